import { LIMITS } from '../../base/limits.js';
import { paced, pause } from '../../base/paced.js';
import { invalidInput } from '../../base/validator.js';
import type { Constraint } from '../../evaluation/definitions.types.js';
import { loadPatterns } from '../../evaluation/load-patterns.js';
import { patternsIn } from '../../evaluation/pattern-bound.js';
import { constraintsWeight } from '../../evaluation/weight.js';
import type { DocumentsInMemory, Engine, UnitOfWork } from '../../kernel/engine.js';
import type { Documents } from '../../storage/document-reader.js';
import {
  type ConstraintsOf,
  countPatterns,
  createScale,
  type FoundPattern,
  tooHeavy,
  tooManyPatterns,
  weighStrategies,
} from './faults.js';
import { flagDocuments, type ReferredSegment, referredSegments } from './flag.kind.js';

/** The rule for the value of a `REGEX`. */
const PATTERN = 'must be a regular expression in RE2 syntax';

/** More invalid patterns than anybody corrects at once. Compiling stops there. */
const MOST_ISSUES = 10;

/**
 * Compiles patterns, in slices: compiling one takes up to some ten milliseconds. The first pattern of the process waits until
 * RE2 is loaded. Returns the first ten invalid ones.
 */
export async function findInvalidPatterns<Found extends FoundPattern>(
  patterns: Iterable<Found>,
): Promise<readonly (Found & { readonly message: string })[]> {
  const invalid: (Found & { readonly message: string })[] = [];
  for (const found of patterns) {
    const { isPattern } = await loadPatterns();
    await pause();
    if (!isPattern(found.pattern)) invalid.push({ ...found, message: PATTERN });
    if (invalid.length === MOST_ISSUES) break;
  }
  return invalid;
}

type Segments = ReadonlyMap<string, Pick<ReferredSegment, 'constraints'>>;

/** Returns the segments in memory, overlaid with the writes of the change set so far. */
export function segmentsWith({ memory }: Pick<Engine, 'memory'>, unit: UnitOfWork): Segments {
  return withWritten(memory, unit, referredSegments);
}

export function constraintsIn(segments: Segments): ConstraintsOf {
  return (id) => segments.get(`${id}`)?.constraints ?? [];
}

interface SegmentChange {
  readonly id: number;
  readonly constraints: readonly Constraint[];
}

/**
 * Refuses constraints of a segment that would give a flag too many patterns or too long lists. Concurrent changes of other
 * processes may still exceed the limit together; evaluation enforces it too.
 */
export async function assertSegmentCost(
  engine: Pick<Engine, 'memory'>,
  unit: UnitOfWork,
  { id, constraints }: SegmentChange,
): Promise<void> {
  const known = segmentsWith(engine, unit);
  const before = known.get(`${id}`);
  if (!before) return;
  const hasMorePatterns = patternsIn(constraints) > patternsIn(before.constraints);
  const isHeavier = constraintsWeight(constraints) > constraintsWeight(before.constraints);
  if (!hasMorePatterns && !isHeavier) return;
  const constraintsOf = constraintsIn(new Map([...known, [`${id}`, { constraints }]]));
  const weightOf = createScale(constraintsOf);
  for await (const flag of paced(withWritten(engine.memory, unit, flagDocuments).values())) {
    const using = flag.environments.filter(({ strategies }) => strategies.some((one) => one.segments?.includes(id)));
    if (using.length === 0 || flag.archived) continue;
    const count = hasMorePatterns ? countPatterns(flag, constraintsOf) : 0;
    if (count > LIMITS.patternsPerFlag) {
      const message = tooManyPatterns(count, `give ${flag.name}, which uses this segment,`);
      throw invalidInput([{ message, path: '/constraints' }]);
    }
    const heavy =
      isHeavier && using.find(({ strategies }) => weighStrategies(strategies, weightOf) > LIMITS.flagWeight);
    if (heavy) {
      const message = tooHeavy(`make the strategies of ${flag.name} in ${heavy.name}, which use this segment,`);
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
