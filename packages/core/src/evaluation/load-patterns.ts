import type { ConstraintDefinition } from './definitions.types.js';
import { patternsIn } from './pattern-bound.js';
import type { Patterns } from './patterns.types.js';

let loaded: Patterns | undefined;
let loading: Promise<Patterns> | undefined;

/** Loads RE2 once. Tries again after a failure. */
export function loadPatterns(): Promise<Patterns> {
  loading ??= import('./re2.js').then(
    ({ patterns }) => {
      loaded = patterns;
      return patterns;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

/**
 * Loads RE2 if these flags or segments have a pattern. Await it before they are evaluated. Returns undefined if there is
 * nothing to wait for.
 */
export function loadPatternsFor(evaluated: EvaluatedConstraints): Promise<Patterns> | undefined {
  return loaded === undefined && hasPattern(evaluated) ? loadPatterns() : undefined;
}

/** Returns what compiles patterns. Throws before `loadPatterns` has resolved, which is a defect of the caller. */
export function loadedPatterns(): Patterns {
  if (loaded === undefined) throw new Error('RE2 is not loaded, but there is a regular expression');
  return loaded;
}

interface WithStrategies {
  readonly strategies: readonly WithConstraints[];
}

interface WithConstraints {
  readonly constraints?: readonly Pick<ConstraintDefinition, 'operator'>[] | null | undefined;
}

/** Flags, each in one environment, and segments. */
interface EvaluatedConstraints {
  readonly flags: Iterable<WithStrategies>;
  readonly segments: Iterable<WithConstraints>;
}

/** Whether any strategy or segment has a pattern, also if it is disabled or not used. */
export function hasPattern({ flags, segments }: EvaluatedConstraints): boolean {
  for (const { strategies } of flags) if (strategies.some(constrainsByPattern)) return true;
  for (const segment of segments) if (constrainsByPattern(segment)) return true;
  return false;
}

function constrainsByPattern({ constraints }: WithConstraints): boolean {
  return patternsIn(constraints ?? []) > 0;
}
