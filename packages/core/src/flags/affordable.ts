import { LIMITS } from '../base/limits.js';
import { invalidInput } from '../base/validator.js';
import type { Documents } from '../changesets/documents.js';
import type { Engine } from '../changesets/engine.js';
import type { UnitOfWork } from '../changesets/unit-of-work.js';
import { constraintsCost, strategyCost } from '../evaluation/cost.js';
import { segmentDocuments } from '../segments/segment.js';
import { environmentOf, evolveFlag, type FlagEvent, type FlagState } from './flag.js';
import { flagDocuments } from './flag-documents.js';
import type { Constraint, Strategy } from './strategy.types.js';

interface StrategyChange {
  readonly unit: UnitOfWork;
  readonly flag: FlagState;
  readonly events: readonly FlagEvent[];
  readonly environment: string;
}

/**
 * Refuses strategies that make evaluating their flag too expensive. The cost includes the other strategies of the
 * environment, and the segments in memory. A flag that is too expensive already may change if its cost does not grow.
 * The check may miss concurrent changes of other processes; evaluation enforces its own limit.
 *
 * @throws FlagsError `invalid_input`
 */
export function assertAffordable(
  { replica }: Pick<Engine, 'replica'>,
  { unit, flag, events, environment }: StrategyChange,
): void {
  if (!events.some(({ type }) => type === 'strategy-added' || type === 'strategy-updated')) return;
  const before = environmentOf(flag, environment).strategies;
  const next = events.reduce<FlagState | undefined>(evolveFlag, flag) ?? flag;
  const after = environmentOf(next, environment).strategies;
  const costOf = strategiesCost(withWritten(replica.documents.segments, unit, segmentDocuments));
  const cost = costOf(after);
  if (cost <= LIMITS.flagCost || cost <= costOf(before)) return;
  const message =
    `would make evaluating ${flag.name} in ${environment} take too long, together with its other strategies and ` +
    'segments; use fewer or simpler regular expressions, and shorter lists';
  const changed = after.filter((strategy) => !before.includes(strategy));
  throw invalidInput([{ message, path: changed.some(usesSegments) ? '' : '/constraints' }]);
}

/** Refuses constraints of a segment that make evaluating a flag with this segment too expensive. */
export function assertUsersAffordable(
  { replica }: Pick<Engine, 'replica'>,
  {
    unit,
    id,
    constraints,
  }: { readonly unit: UnitOfWork; readonly id: number; readonly constraints: readonly Constraint[] },
): void {
  const flags = withWritten(replica.documents.flags, unit, flagDocuments);
  const segments = withWritten(replica.documents.segments, unit, segmentDocuments);
  const known = segments.get(`${id}`);
  if (known && constraintsCost(constraints) <= constraintsCost(known.constraints)) return;
  const costOf = strategiesCost(new Map<string, SegmentConstraints>([...segments, [`${id}`, { constraints }]]));
  for (const { name, archived, environments } of flags.values()) {
    if (archived) continue;
    for (const { name: environment, strategies } of environments) {
      if (!strategies.some((strategy) => strategy.segments?.includes(id))) continue;
      if (costOf(strategies) <= LIMITS.flagCost) continue;
      const message =
        `would make evaluating ${name} in ${environment} take too long, which uses this segment; use fewer or simpler ` +
        'regular expressions, and shorter lists';
      throw invalidInput([{ message, path: '/constraints' }]);
    }
  }
}

/** Returns the documents in memory, with those that the change set has written so far. */
function withWritten<State>(
  known: ReadonlyMap<string, State>,
  unit: UnitOfWork,
  documents: Documents<State>,
): ReadonlyMap<string, State> {
  const written = unit.written(documents);
  if (written.size === 0) return known;
  const current = new Map(known);
  for (const [id, state] of written) {
    if (state === undefined) current.delete(id);
    else current.set(id, state);
  }
  return current;
}

interface SegmentConstraints {
  readonly constraints: readonly Constraint[];
}

/** Creates a function that returns the cost of a flag's strategies, given the segments by their ids. */
export function strategiesCost(
  segments: Pick<ReadonlyMap<string, SegmentConstraints>, 'get'>,
): (strategies: readonly Strategy[]) => number {
  const costOfSegment = (id: number) => constraintsCost(segments.get(`${id}`)?.constraints ?? []);
  return (strategies) =>
    strategies.reduce((sum, strategy) => sum + (strategy.disabled ? 0 : strategyCost(strategy, costOfSegment)), 0);
}

function usesSegments({ segments }: Strategy): boolean {
  return (segments?.length ?? 0) > 0;
}
