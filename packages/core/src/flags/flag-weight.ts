import { LIMITS } from '../base/limits.js';
import { paced } from '../base/paced.js';
import { invalidInput } from '../base/validator.js';
import type { DocumentsInMemory, Engine, UnitOfWork } from '../engine/engine.js';
import { type ReferredSegment, referredSegments } from '../engine/references.js';
import type { Constraint } from '../evaluation/definitions.types.js';
import { patternsIn } from '../evaluation/pattern-bound.js';
import { constraintsWeight, constraintWeight, strategyWeight } from '../evaluation/weight.js';
import type { Documents } from '../storage/documents.js';
import { type CountPatterns, countPatterns, type Fault, type FaultPlace, tooManyPatterns } from './faults.js';
import { environmentOf, type FlagState } from './flag.js';
import { flagDocuments } from './flag.kind.js';
import type { Strategy } from './strategy.types.js';

const ADVICE = 'use fewer or simpler regular expressions, and shorter lists';

type Segments = ReadonlyMap<string, Pick<ReferredSegment, 'constraints'>>;

/** Returns the segments in memory, overlaid with the writes of the change set so far. */
export function segmentsWith({ memory }: Pick<Engine, 'memory'>, unit: UnitOfWork): Segments {
  return withWritten(memory, unit, referredSegments);
}

export function patternCounter(segments: Segments): CountPatterns {
  return (id) => patternsIn(segments.get(`${id}`)?.constraints ?? []);
}

/**
 * Finds strategies that weigh too much: alone, or in an environment together with the others and the segments. They may
 * keep their weight. Concurrent changes of other processes may still exceed the limit together; evaluation enforces it
 * too.
 */
export function findWeightFaults(
  { before, after }: { readonly before: FlagState | undefined; readonly after: FlagState },
  segments: Segments,
): readonly Fault[] {
  const weigh = createScale(segments);
  const faults: Fault[] = [];
  for (const { name: environment, strategies } of after.environments) {
    const known = before ? environmentOf(before, environment).strategies : [];
    const changed = [...strategies.entries()].filter(([, strategy]) => !known.includes(strategy));
    const placeOf = ([index, strategy]: [number, Strategy]): FaultPlace => {
      return { place: `/environments/${environment}/strategies/${index}`, strategy };
    };
    const ofConstraints = changed.flatMap((one) =>
      findHeavyConstraint(one[1].constraints, weightOf(known, one[1].id)).map((fault) => ({
        ...placeOf(one),
        ...fault,
      })),
    );
    faults.push(...ofConstraints);
    const weight = weigh(strategies);
    const [first] = changed;
    if (ofConstraints.length > 0 || !first || weight <= LIMITS.flagWeight || weight <= weigh(known)) continue;
    const message = `would make evaluating ${after.name} in ${environment} take too long, together with its other strategies and segments; ${ADVICE}`;
    const place = changed.length === 1 ? placeOf(first) : { place: `/environments/${environment}` };
    faults.push({ ...place, path: first[1].segments?.length ? '' : '/constraints', message });
  }
  return faults;
}

function weightOf(known: readonly Strategy[], id: string): number {
  return constraintsWeight(known.find((strategy) => strategy.id === id)?.constraints ?? []);
}

/** Finds the first constraint with which the sum of weights exceeds the limit, unless the sum was as large before. */
function findHeavyConstraint(
  constraints: readonly Constraint[],
  before: number,
): readonly { readonly message: string; readonly path: string }[] {
  let weight = 0;
  const index = constraints.findIndex((constraint) => {
    weight += constraintWeight(constraint);
    return weight > LIMITS.flagWeight;
  });
  if (index < 0 || constraintsWeight(constraints) <= before) return [];
  const message = `makes the constraints take too long together; ${ADVICE}`;
  return [{ message, path: `/constraints/${index}` }];
}

interface SegmentChange {
  readonly id: number;
  readonly constraints: readonly Constraint[];
}

/** Refuses constraints of a segment that would make it, or a flag with it, weigh too much or have too many patterns. */
export async function assertSegmentWeight(
  engine: Pick<Engine, 'memory'>,
  unit: UnitOfWork,
  { id, constraints }: SegmentChange,
): Promise<void> {
  const known = segmentsWith(engine, unit);
  const before = known.get(`${id}`);
  const weightBefore = constraintsWeight(before?.constraints ?? []);
  const heavy = findHeavyConstraint(constraints, weightBefore);
  if (heavy.length > 0) throw invalidInput(heavy);
  const hasMorePatterns = patternsIn(constraints) > patternsIn(before?.constraints ?? []);
  if (!before || (!hasMorePatterns && constraintsWeight(constraints) <= weightBefore)) return;
  const segments: Segments = new Map([...known, [`${id}`, { constraints }]]);
  const weigh = createScale(segments);
  for await (const flag of paced(withWritten(engine.memory, unit, flagDocuments).values())) {
    if (flag.archived) continue;
    const using = flag.environments.filter(({ strategies }) => strategies.some((one) => one.segments?.includes(id)));
    const count = using.length > 0 && hasMorePatterns ? countPatterns(flag, patternCounter(segments)) : 0;
    if (count > LIMITS.patternsPerFlag) {
      throw invalidInput([
        { message: tooManyPatterns(count, `give ${flag.name}, which uses this segment,`), path: '/constraints' },
      ]);
    }
    for (const { name: environment, strategies } of using) {
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
function createScale(segments: Segments) {
  const weights = new Map<number, number>();
  function weightOfSegment(id: number): number {
    const weight = weights.get(id) ?? constraintsWeight(segments.get(`${id}`)?.constraints ?? []);
    weights.set(id, weight);
    return weight;
  }
  return (strategies: readonly Strategy[]) => {
    let weight = 0;
    for (const strategy of strategies)
      if (weight <= LIMITS.flagWeight) weight += strategyWeight(strategy, weightOfSegment);
    return weight;
  };
}
