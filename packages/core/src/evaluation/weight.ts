import { LIMITS } from '../base/limits.js';
import type { ConstraintDefinition, StrategyDefinition } from './definitions.types.js';
import { weightOfTextSearch } from './text-search.js';

/**
 * The tokens of a pattern: quoted text, escapes, classes, repetitions, and every other character. An unclosed token
 * extends to the end. Matching is unambiguous, so it takes linear time.
 */
const TOKEN =
  /\\Q(.*?)(?:\\E|$)|\\[xpP]\{[^}]*(?:\}|$)|\\.|\[\^?\]?(?:\\(?:.|$)|\[:\w+:\]|[^\]\\])*(?:\]|$)|\{(\d+)(?:(,)(\d*))?\}|./gs;

/** A Unicode property class has hundreds of ranges and takes about ten times as long to compile. */
const UNICODE_CLASS_WEIGHT = 10;

/**
 * Estimates the number of instructions in the compiled pattern, which determines the time of a match. RE2 expands
 * repetitions, so nested repetitions multiply.
 */
export function patternWeight(pattern: string): number {
  const outer: number[] = [];
  let group = 0;
  let latest = 0;
  for (const [token, quoted, least, comma = '', most] of pattern.matchAll(TOKEN)) {
    if (token === '(') {
      outer.push(group);
      group = 0;
      latest = 0;
    } else if (token === ')') {
      latest = group;
      group += outer.pop() ?? 0;
    } else if (least !== undefined) {
      const times = Math.max(1, Number(most || least) + (comma && !most ? 1 : 0));
      group += latest * (times - 1);
      latest *= times;
    } else {
      latest = /\\[pP]/.test(token) ? UNICODE_CLASS_WEIGHT : 1;
      group += quoted === undefined ? latest : Math.max(1, quoted.length);
    }
  }
  return outer.reduce((sum, weight) => sum + weight, group);
}

/*
 * The weights of everything else, in the same unit: an instruction of a pattern takes about 20 microseconds with the
 * slowest context value, of up to 4,096 characters, or 500 for patterns.
 */
const COMPARISON = 0.05;
/** Lower-casing can lengthen a text, which creates a new one. */
const LOWER_CASE = 2;
/** Each strategy may hash the longest id, with non-ASCII characters. */
export const HASH = 2;
const PREFIX = 0.001;
const NETWORK = 0.0005;

/** The result for an unusable constraint does not matter. */
export function constraintWeight(constraint: ConstraintDefinition): number {
  const { operator, value, values, caseInsensitive } = constraint;
  const texts = Array.isArray(values) ? values : [];
  const base = COMPARISON + (caseInsensitive ? LOWER_CASE : 0);
  switch (operator) {
    case 'REGEX':
      return base + (typeof value === 'string' ? compilableWeight(value) : 0);
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

/** A pattern that is too heavy to compile exceeds every sum. */
function compilableWeight(pattern: string): number {
  const weight = patternWeight(pattern);
  return weight > LIMITS.patternWeight ? Number.POSITIVE_INFINITY : weight;
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
