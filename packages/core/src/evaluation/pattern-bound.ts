import { LIMITS } from '../base/limits.js';
import type { ConstraintDefinition } from './definitions.types.js';
import { operandOf } from './operators.js';

/**
 * The tokens of a pattern: quoted text, escapes, classes, repetitions, and every other character. An unclosed token
 * extends to the end. Matching is unambiguous, so it takes linear time.
 */
const TOKEN =
  /\\Q(.*?)(?:\\E|$)|\\[xpP]\{[^}]*(?:\}|$)|\\.|\[\^?\]?(?:\\(?:.|$)|\[:\w+:\]|[^\]\\])*(?:\]|$)|\{(\d+)(?:(,)(\d*))?\}|./gs;

/** A Unicode property class has hundreds of ranges. Its repetitions share them. */
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
  /** How often the most repeated part is repeated. */
  readonly repetitions: number;
}

/** What the tokens of a group, or the latest token, come to. */
interface Extent {
  instructions: number;
  repetitions: number;
}

/** Estimates the size of the compiled pattern from its text. */
function sizeOf(pattern: string): PatternSize {
  const merges = pattern.includes('|');
  const outer: Extent[] = [];
  let group: Extent = { instructions: 0, repetitions: 1 };
  let latest: Extent = { instructions: 0, repetitions: 1 };
  let classes = 0;
  const addLatest = () => {
    group.instructions += latest.instructions;
    group.repetitions = Math.max(group.repetitions, latest.repetitions);
  };
  for (const [token, quoted, least, comma = '', most] of pattern.matchAll(TOKEN)) {
    if (token === '(') {
      outer.push(group);
      group = { instructions: 1, repetitions: 1 };
      latest = { instructions: 0, repetitions: 1 };
    } else if (token === ')') {
      latest = group;
      group = outer.pop() ?? { instructions: 0, repetitions: 1 };
      addLatest();
    } else if (least !== undefined) {
      const times = Math.max(1, Number(most || least));
      const copies = times + (comma && !most ? 1 : 0);
      group.instructions += latest.instructions * (copies - 1);
      latest = { instructions: latest.instructions * copies, repetitions: latest.repetitions * times };
      group.repetitions = Math.max(group.repetitions, latest.repetitions);
    } else {
      const isBracket = token.startsWith('[');
      const isUnicode = UNICODE_CLASS.test(token);
      latest = { instructions: 1, repetitions: 1 };
      group.instructions += quoted === undefined ? latest.instructions : Math.max(1, quoted.length);
      if (isBracket) classes += bracketWeight(token);
      else if (isUnicode) classes += merges ? MERGED_CLASS_WEIGHT : UNICODE_CLASS_WEIGHT;
    }
  }
  const all = [...outer, group];
  return {
    instructions: all.reduce((sum, { instructions }) => sum + instructions, 0),
    classes,
    repetitions: Math.max(...all.map(({ repetitions }) => repetitions)),
  };
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

/**
 * Whether a pattern is short, also with its repetitions written out, and repeats no part too often. Changes refuse other
 * patterns. Evaluation skips them, because a follower reads what other servers allow.
 */
export function isWithinPatternBound(pattern: string): boolean {
  if (pattern.length > LIMITS.pattern) return false;
  const { instructions, classes, repetitions } = sizeOf(pattern);
  return repetitions <= LIMITS.patternRepetitions && instructions + classes <= LIMITS.pattern;
}

/** Counts the constraints with a pattern. */
export function patternsIn(constraints: readonly Pick<ConstraintDefinition, 'operator'>[]): number {
  let count = 0;
  for (const { operator } of constraints) if (operandOf(operator) === 'pattern') count++;
  return count;
}
