import { LIMITS } from '../base/limits.js';
import type { ConstraintDefinition, StrategyDefinition } from './definitions.types.js';
import { weightOfTextSearch } from './text-search.js';

/*
 * Weights bound what one evaluation tests: the strategies of a flag with their segments, or its parents. No single document
 * reaches the limit without thousands of texts to search for; segments that are used many times, and many parents, do. The
 * unit is about 20 microseconds with the slowest context value, of up to 4,096 characters, or 500 for patterns.
 */
/** Patterns are bounded one by one, so none is read here. */
const PATTERN = 100;
const COMPARISON = 0.05;
/** Lower-casing can lengthen a text, which creates a new one. */
const LOWER_CASE = 2;
/** Each strategy may hash the longest id, with non-ASCII characters. */
export const HASH = 2;
const PREFIX = 0.001;
const NETWORK = 0.0005;

/** The result for an unusable constraint does not matter. */
function constraintWeight(constraint: ConstraintDefinition): number {
  const { operator, values, caseInsensitive } = constraint;
  const texts = Array.isArray(values) ? values : [];
  const base = COMPARISON + (caseInsensitive ? LOWER_CASE : 0);
  switch (operator) {
    case 'REGEX':
      return base + PATTERN;
    case 'STR_CONTAINS':
      return base + weightOfTextSearch(texts.map(String));
    case 'STR_STARTS_WITH':
    case 'STR_ENDS_WITH':
      return base + texts.length * PREFIX;
    case 'IN_CIDR':
      return base + texts.length * NETWORK;
    default:
      return base;
  }
}

export function constraintsWeight(constraints: readonly ConstraintDefinition[]): number {
  return constraints.reduce((sum, constraint) => sum + constraintWeight(constraint), 0);
}

/**
 * Stops at a weight beyond the limit of a flag.
 *
 * @param weightOf returns the weight of a segment
 */
export function strategyWeight(
  { constraints, segments, disabled }: StrategyDefinition,
  weightOf: (segment: number) => number,
): number {
  if (disabled) return 0;
  let weight = HASH + constraintsWeight(constraints ?? []);
  for (const id of segments ?? []) if (weight <= LIMITS.flagWeight) weight += weightOf(id);
  return weight;
}
