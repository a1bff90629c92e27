import { LIMITS } from '../base/limits.js';
import { paced } from '../base/paced.js';
import { invalidInput } from '../base/validator.js';
import type { DocumentsInMemory, Engine, UnitOfWork } from '../engine/engine.js';
import { referredSegments } from '../engine/references.js';
import type { Constraint } from '../evaluation/definitions.types.js';
import { constraintsWeight, strategyWeight } from '../evaluation/weight.js';
import type { Documents } from '../storage/documents.js';
import { environmentOf, type FlagState } from './flag.js';
import { flagDocuments } from './flag.kind.js';
import type { Strategy } from './strategy.types.js';

const ADVICE = 'use fewer or simpler regular expressions, and shorter lists';

interface FlagChange {
  readonly before: FlagState | undefined;
  readonly after: FlagState;
}

/**
 * Creates a function that refuses a flag whose strategies and segments weigh too much in an environment, unless they
 * weighed as much before. Concurrent changes of other processes may still exceed the limit together; evaluation
 * enforces it too.
 *
 * @throws FlagsError `invalid_input`
 */
export function createFlagWeightCheck(
  { memory }: Pick<Engine, 'memory'>,
  unit: UnitOfWork,
): (change: FlagChange) => void {
  const weigh = createScale(withWritten(memory, unit, referredSegments));
  return ({ before, after }) => {
    for (const { name: environment, strategies } of after.environments) {
      const known = before ? environmentOf(before, environment).strategies : [];
      const weight = weigh(strategies);
      if (weight <= LIMITS.flagWeight || weight <= weigh(known)) continue;
      const message = `would make evaluating ${after.name} in ${environment} take too long, together with its other strategies and segments; ${ADVICE}`;
      const changed = strategies.filter((strategy) => !known.includes(strategy));
      throw invalidInput([{ message, path: changed.some(({ segments }) => segments?.length) ? '' : '/constraints' }]);
    }
  };
}

interface SegmentChange {
  readonly id: number;
  readonly constraints: readonly Constraint[];
}

/** Refuses constraints of a segment that would make a flag weigh too much. */
export async function assertSegmentWeight(
  { memory }: Pick<Engine, 'memory'>,
  unit: UnitOfWork,
  { id, constraints }: SegmentChange,
): Promise<void> {
  const segments = withWritten(memory, unit, referredSegments);
  const known = segments.get(`${id}`);
  if (known && constraintsWeight(constraints) <= constraintsWeight(known.constraints)) return;
  const weigh = createScale(
    new Map<string, Pick<SegmentChange, 'constraints'>>([...segments, [`${id}`, { constraints }]]),
  );
  for await (const flag of paced(withWritten(memory, unit, flagDocuments).values())) {
    for (const { name: environment, strategies } of flag.archived ? [] : flag.environments) {
      if (!strategies.some((strategy) => strategy.segments?.includes(id))) continue;
      if (weigh(strategies) <= LIMITS.flagWeight) continue;
      const message = `would make evaluating ${flag.name}, which uses this segment, take too long in ${environment}; ${ADVICE}`;
      throw invalidInput([{ message, path: '/constraints' }]);
    }
  }
}

/** Returns the documents in memory, overlaid with the writes of the change set so far. */
function withWritten<State>(
  memory: DocumentsInMemory,
  unit: UnitOfWork,
  documents: Documents<State>,
): ReadonlyMap<string, State> {
  const known = memory.statesOf(documents);
  const written = unit.written(documents);
  if (written.size === 0) return known;
  const current = new Map(known);
  for (const [id, state] of written) {
    if (state === undefined) current.delete(id);
    else current.set(id, state);
  }
  return current;
}

/** Creates a function that weighs strategies with these segments. It stops at a weight beyond the limit. */
function createScale(segments: ReadonlyMap<string, Pick<SegmentChange, 'constraints'>>) {
  const weights = new Map<number, number>();
  function weightOf(id: number): number {
    const weight = weights.get(id) ?? constraintsWeight(segments.get(`${id}`)?.constraints ?? []);
    weights.set(id, weight);
    return weight;
  }
  return (strategies: readonly Strategy[]) => {
    let weight = 0;
    for (const strategy of strategies) if (weight <= LIMITS.flagWeight) weight += strategyWeight(strategy, weightOf);
    return weight;
  };
}
