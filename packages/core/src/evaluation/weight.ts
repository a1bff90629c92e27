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
/** Bracket expressions and alternatives merge and sort the ranges of their Unicode classes. */
const MERGED_CLASS_WEIGHT = 20;
/** The characters of a range that RE2 visits in the time of one instruction. It visits all if it ignores the case. */
const FOLDED_CHARACTERS = 570;
/** The characters that have another case lie between these. */
const FIRST_FOLDED = 0x41;
const LAST_FOLDED = 0x1_e9_43;

const UNICODE_CLASS = /\\[pP]/;
/** The items of a bracket expression: a Unicode class, a class by name, or one character, which may begin a range. */
const CLASS_ITEM = /(\\[pP](?:\{[^}]*\}|.))|\[:\w+:\]|\\x\{[^}]*\}|\\x..|\\[0-7]{1,3}|\\.|./gsu;

interface PatternSize {
  /** The instructions of the compiled pattern. RE2 expands repetitions, so nested repetitions multiply. */
  readonly instructions: number;
  /** The time for parsing its classes, in instructions. */
  readonly classes: number;
}

/** Estimates the size of the compiled pattern from its text. */
function sizeOf(pattern: string): PatternSize {
  const merges = pattern.includes('|');
  const outer: number[] = [];
  let group = 0;
  let latest = 0;
  let classes = 0;
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
      const isBracket = token.startsWith('[');
      const isUnicode = UNICODE_CLASS.test(token);
      latest = isUnicode && !isBracket ? UNICODE_CLASS_WEIGHT : 1;
      group += quoted === undefined ? latest : Math.max(1, quoted.length);
      if (isBracket) classes += bracketWeight(token);
      else if (isUnicode && merges) classes += MERGED_CLASS_WEIGHT;
    }
  }
  return { instructions: outer.reduce((sum, weight) => sum + weight, group), classes };
}

/** Any pattern may ignore case: through `(?i)`, or through its constraint. */
function bracketWeight(expression: string): number {
  if (!expression.includes('-') && !UNICODE_CLASS.test(expression)) return 0;
  const items = [...expression.slice(1, -1).matchAll(CLASS_ITEM)];
  return items.reduce((sum, [item, unicodeClass], index) => {
    if (unicodeClass !== undefined) return sum + MERGED_CLASS_WEIGHT;
    const first = items[index - 1]?.[0];
    const last = items[index + 1]?.[0];
    if (item !== '-' || first === undefined || last === undefined) return sum;
    const folded =
      Math.min(codePointOf(last) ?? LAST_FOLDED, LAST_FOLDED) - Math.max(codePointOf(first) ?? 0, FIRST_FOLDED);
    return sum + Math.floor(Math.max(0, folded) / FOLDED_CHARACTERS);
  }, 0);
}

/** Returns undefined for a class, or an escape that is not a number. */
function codePointOf(item: string): number | undefined {
  if (!item.startsWith('\\')) return item.codePointAt(0);
  const [, hexadecimal] = /^\\x\{?([\da-f]+)/i.exec(item) ?? [];
  if (hexadecimal !== undefined) return Number.parseInt(hexadecimal, 16);
  const [, octal] = /^\\([0-7]+)$/.exec(item) ?? [];
  return octal === undefined ? undefined : Number.parseInt(octal, 8);
}

/** Estimates the time of a pattern in instructions, which determine the time of a match. */
export function patternWeight(pattern: string): number {
  const { instructions, classes } = sizeOf(pattern);
  return instructions + classes;
}

/** Microseconds to compile the smallest pattern, an instruction, and one with hundreds of ranges. */
const COMPILATION = 50;
const INSTRUCTION = 1;
const RANGES = 20;

/** Estimates the time to compile a pattern, in microseconds. */
export function compilationTime(pattern: string): number {
  const { instructions, classes } = sizeOf(pattern);
  const hasRanges = classes > 0 || UNICODE_CLASS.test(pattern);
  return COMPILATION + pattern.length + classes * RANGES + instructions * (hasRanges ? RANGES : INSTRUCTION);
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
