import { LIMITS } from '../base/limits.js';
import type { ConstraintDefinition, StrategyDefinition } from './definitions.types.js';
import { costOfTextSearch } from './text-search.js';

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
 * Costs are upper bounds for one evaluation with the slowest context, in about microseconds on a busy machine. Context
 * values have up to 4,096 characters, or 500 for patterns. `LIMITS.flagCost` limits the sum of a flag's strategies, so
 * that no context can block the process. Typical contexts cost a small fraction.
 */

/** Reads a field and compares it. */
const COMPARISON_COST = 1;
/** One instruction takes some ten nanoseconds per character: 20 to 40 for hostile patterns. */
const INSTRUCTION_COST = 20;
/** Lower-casing can lengthen a text, which creates a new one. */
const LOWER_CASE_COST = 40;
const PREFIXES_PER_MICROSECOND = 50;
const RANGES_PER_MICROSECOND = 100;

/** Hashes the longest id, with non-ASCII characters. */
export const HASH_COST = 40;

/** Estimates one constraint. The result for an unusable constraint does not matter. */
export function constraintCost(constraint: ConstraintDefinition): number {
  return COMPARISON_COST + (constraint.caseInsensitive ? LOWER_CASE_COST : 0) + operatorCost(constraint);
}

/** The costs of lists that exceed {@link UNCACHED_COST}. Lists of constraints are immutable. */
const knownCosts = new WeakMap<readonly ConstraintDefinition[], number>();

/** A cheaper list is estimated faster than it is cached. */
const UNCACHED_COST = 20;

export function constraintsCost(constraints: readonly ConstraintDefinition[]): number {
  const known = knownCosts.get(constraints);
  if (known !== undefined) return known;
  const cost = constraints.reduce((sum, constraint) => sum + constraintCost(constraint), 0);
  if (cost > UNCACHED_COST) knownCosts.set(constraints, cost);
  return cost;
}

export function strategyCost(
  { constraints, segments }: StrategyDefinition,
  costOfSegment: (id: number) => number,
): number {
  const ofSegments = (segments ?? []).reduce((sum, id) => sum + costOfSegment(id), 0);
  return HASH_COST + constraintsCost(constraints ?? []) + ofSegments;
}

function operatorCost({ operator, value, values }: ConstraintDefinition): number {
  const texts = Array.isArray(values) ? values : [];
  switch (operator) {
    case 'REGEX':
      return typeof value === 'string' ? patternCost(value) : 0;
    case 'STR_CONTAINS':
      return costOfTextSearch(texts.map(String));
    case 'STR_STARTS_WITH':
    case 'STR_ENDS_WITH':
      return texts.length / PREFIXES_PER_MICROSECOND;
    case 'IN_CIDR':
      return texts.length / RANGES_PER_MICROSECOND;
    default:
      return 0;
  }
}

/** A pattern that is too heavy to compile is never affordable. */
function patternCost(pattern: string): number {
  const weight = patternWeight(pattern);
  return weight > LIMITS.patternWeight ? Number.POSITIVE_INFINITY : INSTRUCTION_COST * weight;
}
