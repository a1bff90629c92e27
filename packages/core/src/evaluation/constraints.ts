import { RE2JS, RE2Set } from 're2js';
import { LIMITS } from '../validation/limits.js';
import { always, type FieldReader, fieldReader, never, type Predicate } from './context.js';
import { patternWeight } from './cost.js';
import type { ConstraintDefinition, EvaluationOperator } from './definitions.types.js';
import type { EvaluationContext, EvaluationProblemCode } from './evaluated.types.js';
import { inAnyRange, parseRange } from './ip-address.js';
import { notices, numberOf, text, textsOf } from './problem.js';
import { VersionCursor } from './semver.js';
import { createTextSearch, type TextSearch } from './text-search.js';

/** A constraint's `values`, trimmed; empty ones do not count. */
export function operandTexts(constraint: ConstraintDefinition): string[] {
  return textsOf(constraint.values, 'values of a constraint').map((value) => value.trim());
}

/** Ranges of either family; what is no range is passed over. */
export function isInCidr(constraint: ConstraintDefinition): ValueTest {
  const ranges = operandTexts(constraint)
    .map(parseRange)
    .filter((range) => range !== undefined);
  return (value) => value !== undefined && inAnyRange(ranges, value);
}

/** Milliseconds since 1970, UTC. */
export type Now = () => number;

/** As {@link ValueTestFactory}, for the moment of an evaluation instead of a field. */
export type MomentTestFactory = (constraint: ConstraintDefinition, now: Now) => Predicate | undefined;

export const isAfter: MomentTestFactory = (constraint, now) => {
  const moment = Date.parse(String(constraint.value));
  return Number.isNaN(moment) ? undefined : (context) => currentTime(context, now) > moment;
};

export const isBefore: MomentTestFactory = (constraint, now) => {
  const moment = Date.parse(String(constraint.value));
  return Number.isNaN(moment) ? undefined : (context) => currentTime(context, now) < moment;
};

/** NaN for what is no date: it is neither before nor after anything. */
function currentTime(context: EvaluationContext, now: Now): number {
  const moment = context.currentTime;
  if (!moment) return now();
  if (typeof moment !== 'string') return Number(moment);
  if (moment.length <= LIMITS.operandText) return Date.parse(moment);
  return moment.length > LIMITS.contextValue ? now() : Number.NaN;
}

export function isIn(constraint: ConstraintDefinition): ValueTest {
  const values = new Set<string | undefined>(operandTexts(constraint));
  return (value) => values.has(value);
}

/** Also holds for a field that the context has no value for. */
export function isNotIn(constraint: ConstraintDefinition): ValueTest {
  const values = new Set<string | undefined>(operandTexts(constraint));
  return (value) => !values.has(value);
}

export const equalTo: ValueTestFactory = withOperand((operand) => (value) => readNumber(value) === operand);
export const greaterThan: ValueTestFactory = withOperand((operand) => (value) => readNumber(value) > operand);
export const greaterOrEqual: ValueTestFactory = withOperand((operand) => (value) => readNumber(value) >= operand);
export const lessThan: ValueTestFactory = withOperand((operand) => (value) => readNumber(value) < operand);
export const lessOrEqual: ValueTestFactory = withOperand((operand) => (value) => readNumber(value) <= operand);

/** A value that is missing or no number compares as NaN: nothing holds. */
function withOperand(testAgainst: (operand: number) => ValueTest): ValueTestFactory {
  return (constraint: ConstraintDefinition) => {
    const operand = numberOf(constraint.value);
    return Number.isNaN(operand) ? undefined : testAgainst(operand);
  };
}

/** A longer text is no number: reading one takes a time per digit. */
function readNumber(value: string | undefined): number {
  return value === undefined || value.length > LIMITS.operandText ? Number.NaN : Number(value);
}

/** Compiled patterns in memory: a small one takes ten kilobytes, a large one a hundred. */
const CACHED = 500;
/** In bytes, per pattern. The engine's default of 8 MiB would let one context fill the memory through many patterns. */
const AUTOMATON = 16 * 1024;

const TOO_LONG = `A context value has more than ${LIMITS.patternText} characters and matches no regular expression.`;

const cache = new Map<string, RE2Set>();

/**
 * RE2 semantics in linear time: the built-in engine takes exponential time for some patterns. Contexts come from whoever
 * asks: a longer text matches nothing.
 */
export function matchesPattern({ value: pattern, caseInsensitive }: ConstraintDefinition): ValueTest | undefined {
  if (typeof pattern !== 'string') return undefined;
  // Its strategy or segment costs too much and is not evaluated.
  if (patternWeight(pattern) > LIMITS.patternWeight) return () => false;
  const key = `${caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0}${pattern}`;
  if (compiled(key) === undefined) return undefined;
  return (value) => {
    if (value === undefined) return false;
    if (value.length <= LIMITS.patternText) return (compiled(key)?.match(value).length ?? 0) > 0;
    notices.add({ code: 'context_value_too_long', message: TOO_LONG });
    return false;
  };
}

/** The least recently used pattern makes room. Keys are the flags, one digit, and the pattern. */
function compiled(key: string): RE2Set | undefined {
  const known = cache.get(key) ?? compilePattern(Number(key[0]), key.slice(1));
  if (known === undefined) return undefined;
  cache.delete(key);
  cache.set(key, known);
  const [oldest] = cache.size > CACHED ? cache.keys() : [];
  if (oldest !== undefined) cache.delete(oldest);
  return known;
}

function compilePattern(flags: number, pattern: string): RE2Set | undefined {
  try {
    const set = new RE2Set(RE2Set.UNANCHORED, flags, AUTOMATON);
    set.add(pattern);
    set.compile();
    return set;
  } catch {
    return undefined;
  }
}

export const startsWith: ValueTestFactory = searching(anyPart((value, part) => value.startsWith(part)));
export const endsWith: ValueTestFactory = searching(anyPart((value, part) => value.endsWith(part)));
export const contains: ValueTestFactory = searching(createTextSearch);

type TextSearchFactory = (parts: readonly string[]) => TextSearch;

function searching(createSearch: TextSearchFactory): ValueTestFactory {
  return (constraint) => {
    const parts = operandTexts(constraint);
    if (!constraint.caseInsensitive) {
      const search = createSearch(parts);
      return (value) => value !== undefined && search(value);
    }
    const search = createSearch(parts.map((part) => part.toLowerCase()));
    return (value) => value !== undefined && search(value.toLowerCase());
  };
}

function anyPart(matches: (value: string, part: string) => boolean): TextSearchFactory {
  return (parts) => (text) => {
    for (const part of parts) if (matches(text, part)) return true;
    return false;
  };
}

const NUMBER = '(?:0|[1-9]\\d*)';
const PRERELEASE_PART = `(?:${NUMBER}|\\d*[a-zA-Z-][0-9a-zA-Z-]*)`;
const BUILD = '[0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*';
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE_PART}(?:\\.${PRERELEASE_PART})*)?(?:\\+${BUILD})?$`,
);

/** Whether a text is a version by semver 2.0, to the letter: no `v`, no white space, no leading zeros. Longer texts are none. */
export function isSemver(text: string): boolean {
  return text.length <= LIMITS.operandText && SEMVER.test(text);
}

// Comparing is synchronous: two cursors do for all versions, and nothing is allocated.
const left = new VersionCursor();
const right = new VersionCursor();
const CORE = 3;

/** Orders two versions by semver 2.0: negative, zero or positive; build metadata does not count. Both must be versions. */
export function compareSemver(a: string, b: string): number {
  left.open(a);
  right.open(b);
  let compared = 0;
  for (; left.stands && right.stands; compared++) {
    const order = left.compareTo(right);
    if (order !== 0) return order;
    left.next();
    right.next();
  }
  // A release comes after its pre-releases; among these, more parts come after fewer.
  if (compared === CORE) return Number(right.stands) - Number(left.stands);
  return Number(left.stands) - Number(right.stands);
}

export const sameVersion: ValueTestFactory = ordered((order) => order === 0);
export const newerVersion: ValueTestFactory = ordered((order) => order > 0);
export const sameOrNewerVersion: ValueTestFactory = ordered((order) => order >= 0);
export const olderVersion: ValueTestFactory = ordered((order) => order < 0);
export const sameOrOlderVersion: ValueTestFactory = ordered((order) => order <= 0);

function ordered(holds: (order: number) => boolean): ValueTestFactory {
  return ({ value: operand }) => {
    if (typeof operand !== 'string' || !isSemver(operand)) return undefined;
    return (value) => value !== undefined && isSemver(value) && holds(compareSemver(value, operand));
  };
}

export interface CompiledConstraint {
  readonly definition: ConstraintDefinition;
  readonly holds: Predicate;
  /** The text of the field that the constraint is about. */
  readonly read: FieldReader;
}

export interface ConstraintScope {
  readonly now: Now;
  /** Hears of operators and operands that can never be used. */
  problem(code: EvaluationProblemCode, message: string): void;
}

const VALUE_TESTS: ReadonlyMap<string, ValueTestFactory> = new Map<EvaluationOperator, ValueTestFactory>([
  ['IN', isIn],
  ['NOT_IN', isNotIn],
  ['STR_CONTAINS', contains],
  ['STR_STARTS_WITH', startsWith],
  ['STR_ENDS_WITH', endsWith],
  ['NUM_EQ', equalTo],
  ['NUM_GT', greaterThan],
  ['NUM_GTE', greaterOrEqual],
  ['NUM_LT', lessThan],
  ['NUM_LTE', lessOrEqual],
  ['SEMVER_EQ', sameVersion],
  ['SEMVER_GT', newerVersion],
  ['SEMVER_GTE', sameOrNewerVersion],
  ['SEMVER_LT', olderVersion],
  ['SEMVER_LTE', sameOrOlderVersion],
  ['REGEX', matchesPattern],
  ['IN_CIDR', isInCidr],
]);

const MOMENT_TESTS: ReadonlyMap<string, MomentTestFactory> = new Map<EvaluationOperator, MomentTestFactory>([
  ['DATE_AFTER', isAfter],
  ['DATE_BEFORE', isBefore],
]);

export function compileConstraint(definition: ConstraintDefinition, scope: ConstraintScope): CompiledConstraint {
  const read = fieldReader(text(definition.contextName, 'contextName of a constraint'));
  return { definition, read, holds: compilePredicate(definition, read, scope) };
}

function compilePredicate(definition: ConstraintDefinition, read: FieldReader, scope: ConstraintScope): Predicate {
  const { operator } = definition;
  const valueTest = VALUE_TESTS.get(operator);
  const momentTest = MOMENT_TESTS.get(operator);
  if (valueTest === undefined && momentTest === undefined) {
    scope.problem('unknown_operator', `The operator ${operator} is not known: a constraint with it never holds.`);
    return never;
  }
  const inverted = Boolean(definition.inverted);
  const test = valueTest?.(definition);
  const holds = test === undefined ? momentTest?.(definition, scope.now) : onField(read, test);
  if (holds !== undefined) return inverted ? (context) => !holds(context) : holds;
  scope.problem('unusable_operand', `${operator} on ${definition.contextName} has an operand that it cannot use.`);
  return inverted ? always : never;
}

function onField(read: FieldReader, test: (value: string | undefined) => boolean): Predicate {
  return (context) => test(read(context));
}

/** Decides on the text of a context field, undefined when the context has none. */
export type ValueTest = (value: string | undefined) => boolean;

/** Reads a constraint's operand once; undefined when it is unusable: no number, no version, no pattern. */
export type ValueTestFactory = (constraint: ConstraintDefinition) => ValueTest | undefined;
