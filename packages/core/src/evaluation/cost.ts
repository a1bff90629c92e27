import { LIMITS } from '../validation/limits.js';
import type { ConstraintDefinition, StrategyDefinition } from './definitions.types.js';
import { costOfTextSearch } from './text-search.js';

/**
 * What a pattern consists of: quoted text, escapes, classes, repetitions, and any other character for itself. What is not
 * closed goes on to the end; no text can be read in two ways, which would take exponential time.
 */
const TOKEN =
  /\\Q(.*?)(?:\\E|$)|\\[xpP]\{[^}]*(?:\}|$)|\\.|\[\^?\]?(?:\\(?:.|$)|\[:\w+:\]|[^\]\\])*(?:\]|$)|\{(\d+)(?:(,)(\d*))?\}|./gs;

/** A class by Unicode property has hundreds of ranges: it takes ten times as long to compile. */
const UNICODE_CLASS = 10;

/**
 * About how many instructions a pattern compiles to: repetitions are written out, those within others many times. The time
 * of a match grows with it. Groups, repetitions and classes of Unicode count extra.
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
      latest = /\\[pP]/.test(token) ? UNICODE_CLASS : 1;
      group += quoted === undefined ? latest : Math.max(1, quoted.length);
    }
  }
  return outer.reduce((sum, weight) => sum + weight, group);
}

/*
 * Costs are upper bounds, in about microseconds of a busy machine, of what one evaluation takes with the context that takes
 * longest: values of 4,096 characters, of which texts for patterns have 500. What strategies add up to is limited (see
 * `LIMITS.flagCost`), so that no context, whoever sends it, keeps a process from anything else. Real contexts take a small
 * part of it.
 */

/** Reading a field and comparing it: measured well below. */
const COMPARISON = 1;
/** A pattern takes some ten nanoseconds for each instruction and character: hostile ones 20 to 40. */
const INSTRUCTION = 20;
/** Some characters become two when they are lower-cased, and their texts are made anew. */
const LOWER_CASE = 40;
/** Parts per microsecond. */
const PREFIXES = 50;
const RANGES = 100;

/** A hash of the longest id, of characters that are not ASCII. */
export const HASH_COST = 40;

/** What one constraint costs; that of an unusable one does not matter. */
export function constraintCost(constraint: ConstraintDefinition): number {
  return COMPARISON + (constraint.caseInsensitive ? LOWER_CASE : 0) + operatorCost(constraint);
}

const known = new WeakMap<readonly ConstraintDefinition[], number>();

/** Of a list that does not change: it is worked out once. */
export function constraintsCost(constraints: readonly ConstraintDefinition[]): number {
  const cost = known.get(constraints) ?? constraints.reduce((sum, constraint) => sum + constraintCost(constraint), 0);
  known.set(constraints, cost);
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
      return texts.length / PREFIXES;
    case 'IN_CIDR':
      return texts.length / RANGES;
    default:
      return 0;
  }
}

/** One that is too heavy to be compiled is never affordable. */
function patternCost(pattern: string): number {
  const weight = patternWeight(pattern);
  return weight > LIMITS.patternWeight ? Number.POSITIVE_INFINITY : INSTRUCTION * weight;
}
