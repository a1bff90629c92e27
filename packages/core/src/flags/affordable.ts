import type { Engine } from '../changes/engine.js';
import { constraintsCost, strategyCost } from '../evaluation/cost.js';
import { LIMITS } from '../validation/limits.js';
import { invalidInput } from '../validation/validator.js';
import { environmentOf, type FlagEvent, type FlagState } from './flag.js';
import type { Constraint, Strategy } from './strategy.types.js';

interface StrategyChange {
  readonly flag: FlagState;
  readonly events: readonly FlagEvent[];
  readonly environment: string;
}

/**
 * Refuses a strategy that makes evaluating its flag too expensive. The cost includes the other strategies of the
 * environment, and the segments in memory. A flag that is too expensive already may change if its cost does not grow.
 * The check may miss concurrent changes of other processes; evaluation enforces its own limit.
 *
 * @throws FlagsError `invalid_input`
 */
export function assertAffordable(
  { replica }: Pick<Engine, 'replica'>,
  { flag, events, environment }: StrategyChange,
): void {
  const changed = events.flatMap((event) =>
    event.type === 'strategy-added' || event.type === 'strategy-updated' ? [event.data] : [],
  );
  if (changed.length === 0) return;
  const before = environmentOf(flag, environment).strategies;
  const replaced = new Set(changed.map(({ id }) => id));
  const costOf = strategiesCost(replica.documents.segments);
  const cost = costOf([...before.filter(({ id }) => !replaced.has(id)), ...changed]);
  if (cost <= LIMITS.flagCost || cost <= costOf(before)) return;
  const message =
    `would make evaluating ${flag.name} in ${environment} take too long, together with its other strategies and ` +
    'segments; use fewer or simpler regular expressions, and shorter lists';
  throw invalidInput([{ message, path: changed.some(usesSegments) ? '' : '/constraints' }]);
}

/** Refuses constraints of a segment that make evaluating a flag with this segment too expensive. */
export function assertUsersAffordable(
  { replica }: Pick<Engine, 'replica'>,
  { id, constraints }: { readonly id: number; readonly constraints: readonly Constraint[] },
): void {
  const { flags, segments } = replica.documents;
  const known = segments.get(`${id}`);
  if (known && constraintsCost(constraints) <= constraintsCost(known.constraints)) return;
  const costOf = strategiesCost(new Map<string, SegmentConstraints>([...segments, [`${id}`, { constraints }]]));
  for (const { name, environments } of flags.values()) {
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

interface SegmentConstraints {
  readonly constraints: readonly Constraint[];
}

function strategiesCost(
  segments: ReadonlyMap<string, SegmentConstraints>,
): (strategies: readonly Strategy[]) => number {
  const costOfSegment = (id: number) => constraintsCost(segments.get(`${id}`)?.constraints ?? []);
  return (strategies) =>
    strategies.reduce((sum, strategy) => sum + (strategy.disabled ? 0 : strategyCost(strategy, costOfSegment)), 0);
}

function usesSegments({ segments }: Strategy): boolean {
  return (segments?.length ?? 0) > 0;
}
