import { LIMITS } from '../base/limits.js';
import { parseMoment } from '../base/primitives.js';
import { ALWAYS, allOf, type Condition, ContextField, NEVER } from './context.js';
import { toList, toNumber, toText, toTexts } from './convert.js';
import type { ConstraintDefinition, SegmentDefinition } from './definitions.types.js';
import type { EvaluationContext } from './evaluation.types.js';
import { inAnyRange, parseRange } from './ip-address.js';
import { type ConstraintOperator, type OperatorOn, operandOf } from './operators.js';
import { isWithinPatternBound, patternsIn } from './pattern-bound.js';
import type { PatternSource } from './patterns.types.js';
import { type EvaluationProblemCode, notices, type ProblemReporter, reasonOf } from './problem.js';
import { isSemver, SemverBound } from './semver.js';
import { noEffectInConstraint } from './strategies.js';
import { createTextSearch, type TextSearch } from './text-search.js';
import { constraintsWeight } from './weight.js';

/** Returns a constraint's `values`, trimmed and without blank entries, which would match everything or every guest. */
function operandTexts(constraint: ConstraintDefinition): string[] {
  const texts = toTexts(constraint.values, 'values of a constraint').map((value) => value.trim());
  return texts.includes('') ? texts.filter((text) => text !== '') : texts;
}

/** Accepts IPv4 and IPv6 ranges. Ignores values that are not ranges. */
function isInCidr(constraint: ConstraintDefinition): ValueTest {
  const ranges = operandTexts(constraint)
    .map(parseRange)
    .filter((range) => range !== undefined);
  return (value) => value !== undefined && inAnyRange(ranges, value);
}

/** Returns milliseconds since 1970, UTC. */
export type Now = () => number;

/** Like {@link ValueTestFactory}, but tests the time of the evaluation instead of a context field. */
type MomentTestFactory = (constraint: ConstraintDefinition, now: Now) => Condition['holds'] | undefined;

const isAfter: MomentTestFactory = atMoment((time, operand) => time > operand);
const isBefore: MomentTestFactory = atMoment((time, operand) => time < operand);

function atMoment(holds: (time: number, operand: number) => boolean): MomentTestFactory {
  return (constraint, now) => {
    const operand = parseMoment(String(constraint.value));
    return Number.isNaN(operand) ? undefined : (context) => holds(currentTime(context, now), operand);
  };
}

/** Returns NaN for an invalid date, which is neither before nor after any date. */
function currentTime(context: EvaluationContext, now: Now): number {
  const moment = context.currentTime;
  if (!moment) return now();
  if (typeof moment !== 'string') return Number(moment);
  if (moment.length <= LIMITS.operandText) return parseMoment(moment);
  return moment.length > LIMITS.contextValue ? now() : Number.NaN;
}

/** Shorter lists are searched as fast as a set, which takes five times as much memory. */
const LONG_LIST = 32;

type Values = readonly (string | undefined)[];

function isIn(constraint: ConstraintDefinition): ValueTest {
  const values = operandList(constraint);
  return values.length < LONG_LIST ? isInList(values) : isInSet(values);
}

/** Also holds if the context has no value for the field. */
function isNotIn(constraint: ConstraintDefinition): ValueTest {
  const values = operandList(constraint);
  return values.length < LONG_LIST ? isNotInList(values) : isNotInSet(values);
}

/** Most lists need no trimming. The one of the definition is in memory anyway. */
function operandList(constraint: ConstraintDefinition): Values {
  const texts = operandTexts(constraint);
  const given = constraint.values ?? [];
  const isTrimmed = given.length === texts.length && texts.every((text, at) => text === given[at]);
  return isTrimmed ? given : texts;
}

// Separate functions, so that the closures keep nothing else alive. There may be tens of thousands of them.

function isInList(values: Values): ValueTest {
  return (value) => values.includes(value);
}

function isNotInList(values: Values): ValueTest {
  return (value) => !values.includes(value);
}

// A set of 50,000 values takes 10 ms, so only the environments that evaluate it make it, and not the turn of the change.

function isInSet(values: Values): ValueTest {
  let set: ReadonlySet<string | undefined> | undefined;
  return (value) => {
    set ??= new Set(values);
    return set.has(value);
  };
}

function isNotInSet(values: Values): ValueTest {
  const isIn = isInSet(values);
  return (value) => !isIn(value);
}

const equalTo: ValueTestFactory = withOperand((operand) => (value) => parseOperand(value) === operand);
const greaterThan: ValueTestFactory = withOperand((operand) => (value) => parseOperand(value) > operand);
const greaterOrEqual: ValueTestFactory = withOperand((operand) => (value) => parseOperand(value) >= operand);
const lessThan: ValueTestFactory = withOperand((operand) => (value) => parseOperand(value) < operand);
const lessOrEqual: ValueTestFactory = withOperand((operand) => (value) => parseOperand(value) <= operand);

/** A missing value and a value that is not a number compare as NaN, so that nothing holds. */
function withOperand(testAgainst: (operand: number) => ValueTest): ValueTestFactory {
  return (constraint: ConstraintDefinition) => {
    const operand = toNumber(constraint.value);
    return Number.isNaN(operand) ? undefined : testAgainst(operand);
  };
}

/** Rejects long texts, because parsing takes time per digit. */
function parseOperand(value: string | undefined): number {
  return value === undefined || value.length > LIMITS.operandText ? Number.NaN : Number(value);
}

const startsWith: ValueTestFactory = searching(anyPart((value, part) => value.startsWith(part)));
const endsWith: ValueTestFactory = searching(anyPart((value, part) => value.endsWith(part)));
const contains: ValueTestFactory = searching(createTextSearch);

type TextSearchFactory = (parts: readonly string[]) => TextSearch;

/** The lower case of these characters depends on their neighbours: a sigma has another form at the end of a word. */
const CONTEXTUAL_CASE = /\u03a3|\p{Cs}/u;

function searching(createSearch: TextSearchFactory): ValueTestFactory {
  return (constraint) => {
    const parts = operandTexts(constraint);
    if (!constraint.caseInsensitive) {
      const search = createSearch(parts);
      return (value) => value !== undefined && search(value);
    }
    const search = createSearch(parts.map((part) => part.toLowerCase()));
    const contextual = parts.filter((part) => CONTEXTUAL_CASE.test(part));
    if (contextual.length === 0) return (value) => value !== undefined && search(value.toLowerCase());
    // Whatever matches with case matches without.
    const searchCase = createSearch(contextual);
    return (value) => value !== undefined && (search(value.toLowerCase()) || searchCase(value));
  };
}

function anyPart(matches: (value: string, part: string) => boolean): TextSearchFactory {
  return (parts) => (text) => {
    for (const part of parts) if (matches(text, part)) return true;
    return false;
  };
}

const sameVersion: ValueTestFactory = ordered((order) => order === 0);
const newerVersion: ValueTestFactory = ordered((order) => order > 0);
const sameOrNewerVersion: ValueTestFactory = ordered((order) => order >= 0);
const olderVersion: ValueTestFactory = ordered((order) => order < 0);
const sameOrOlderVersion: ValueTestFactory = ordered((order) => order <= 0);

function ordered(holds: (order: number) => boolean): ValueTestFactory {
  return ({ value: operand }) => {
    if (typeof operand !== 'string' || !isSemver(operand)) return undefined;
    const bound = new SemverBound(operand);
    return (value) => value !== undefined && holds(bound.compare(value));
  };
}

export interface CompiledConstraint extends Condition {
  readonly definition: ConstraintDefinition;
  /** The context field that the constraint tests. */
  readonly field: ContextField;
}

class FieldConstraint implements CompiledConstraint {
  readonly holds: Condition['holds'];

  constructor(
    readonly definition: ConstraintDefinition,
    readonly field: ContextField,
    test: ValueTest,
    inverted: boolean,
  ) {
    const { read } = field;
    this.holds = inverted ? (context) => !test(read(context)) : (context) => test(read(context));
  }
}

export interface ConstraintScope {
  readonly now: Now;
  readonly patterns: PatternSource;
  /** Receives unknown operators and unusable operands. */
  problem(code: EvaluationProblemCode, message: string): void;
}

/** The test of each operator, but of those that compare the time. */
const VALUE_TESTS: Readonly<Record<Exclude<ConstraintOperator, OperatorOn<'moment'>>, ValueTestFactory>> = {
  IN: isIn,
  NOT_IN: isNotIn,
  STR_CONTAINS: contains,
  STR_STARTS_WITH: startsWith,
  STR_ENDS_WITH: endsWith,
  NUM_EQ: equalTo,
  NUM_GT: greaterThan,
  NUM_GTE: greaterOrEqual,
  NUM_LT: lessThan,
  NUM_LTE: lessOrEqual,
  SEMVER_EQ: sameVersion,
  SEMVER_GT: newerVersion,
  SEMVER_GTE: sameOrNewerVersion,
  SEMVER_LT: olderVersion,
  SEMVER_LTE: sameOrOlderVersion,
  REGEX: matchesPattern,
  IN_CIDR: isInCidr,
};

const MOMENT_TESTS: Readonly<Record<OperatorOn<'moment'>, MomentTestFactory>> = {
  DATE_AFTER: isAfter,
  DATE_BEFORE: isBefore,
};

// Maps, because other servers may send any name.
const valueTests: ReadonlyMap<string, ValueTestFactory> = new Map(Object.entries(VALUE_TESTS));
const momentTests: ReadonlyMap<string, MomentTestFactory> = new Map(Object.entries(MOMENT_TESTS));

const SKIPPED_PATTERN = `A regular expression is skipped, because it has more than ${LIMITS.pattern} characters, also with its repetitions written out, or repeats a part more than ${LIMITS.patternRepetitions} times. It tests`;

export function compileConstraint(definition: ConstraintDefinition, scope: ConstraintScope): CompiledConstraint {
  const { operator } = definition;
  const field = new ContextField(toText(definition.contextName, 'contextName of a constraint'));
  const valueTest = valueTests.get(operator);
  const momentTest = momentTests.get(operator);
  if (valueTest === undefined && momentTest === undefined) {
    scope.problem('unknown_operator', `The operator ${operator} is unknown: a constraint with it never holds.`);
    return { definition, field, ...NEVER };
  }
  if (
    operandOf(operator) === 'pattern' &&
    typeof definition.value === 'string' &&
    !isWithinPatternBound(definition.value)
  ) {
    scope.problem('too_costly', `${SKIPPED_PATTERN} ${definition.contextName}: a constraint with it never holds.`);
    return { definition, field, ...NEVER };
  }
  const inverted = Boolean(definition.inverted);
  const reportUnusable = () =>
    scope.problem('unusable_operand', `${operator} on ${definition.contextName} has an invalid operand.`);
  const test = valueTest?.(definition, { patterns: scope.patterns, reportUnusable });
  if (test) return new FieldConstraint(definition, field, test, inverted);
  const holds = momentTest?.(definition, scope.now);
  if (holds) return { definition, field, holds: (context) => holds(context) !== inverted };
  reportUnusable();
  return { definition, field, ...(inverted ? ALWAYS : NEVER) };
}

/** Tests the text of a context field; undefined means that the context has no value. */
type ValueTest = (value: string | undefined) => boolean;

/**
 * Parses a constraint's operand once. Returns undefined if the operand is not a valid number or version. The test of a
 * pattern calls `reportUnusable`, because it compiles the pattern at its first use.
 */
type ValueTestFactory = (constraint: ConstraintDefinition, scope: TestScope) => ValueTest | undefined;

interface TestScope {
  readonly patterns: PatternSource;
  readonly reportUnusable: () => void;
}

const TOO_LONG = `A context value has more than ${LIMITS.patternText} characters and matches no regular expression.`;

/**
 * Tests with RE2 semantics, which match in linear time. Contexts are untrusted, so a long text matches nothing. Compiles
 * the pattern at the first test: strategies that are disabled or weigh too much have none, and a snapshot of many segments
 * is created in one turn.
 */
function matchesPattern(
  { value: pattern, caseInsensitive }: ConstraintDefinition,
  { patterns, reportUnusable }: TestScope,
): ValueTest | undefined {
  if (typeof pattern !== 'string') return undefined;
  const test = patterns().createTest(pattern, Boolean(caseInsensitive));
  let isChecked = false;
  return (value) => {
    if (!isChecked) {
      isChecked = true;
      if (!test.isValid()) reportUnusable();
    }
    if (value === undefined) return false;
    if (value.length <= LIMITS.patternText) return test.matches(value);
    notices.add({ code: 'context_value_too_long', message: TOO_LONG });
    return false;
  };
}

export interface CompiledSegment extends Condition {
  readonly id: number;
  readonly constraints: readonly CompiledConstraint[];
  /** The constraints of a segment beyond the weight limit are not evaluated. */
  readonly weight: number;
  /** The number of its patterns. */
  readonly patterns: number;
}

/** Compiles a segment. An unreadable segment never holds. */
export function compileSegment(
  definition: SegmentDefinition,
  { now, patterns: source, problems }: Omit<ConstraintScope, 'problem'> & { readonly problems: ProblemReporter },
): CompiledSegment {
  const { id: segment } = definition;
  try {
    const definitions = toList(definition.constraints, 'constraints of a segment');
    const weight = constraintsWeight(definitions);
    const patterns = patternsIn(definitions);
    if (weight > LIMITS.flagWeight || patterns > LIMITS.patternsPerFlag) return rejectTooCostly(segment, problems);
    const report = (code: EvaluationProblemCode, message: string) => problems.report({ code, segment, message });
    const inSegment = { now, patterns: source, problem: report };
    const constraints = definitions.map((constraint) => compileConstraint(constraint, inSegment));
    for (const text of definitions.flatMap(noEffectInConstraint)) {
      report('no_effect', `The segment ${segment}: ${text}.`);
    }
    return { id: segment, constraints, holds: allOf(constraints.map(({ holds }) => holds)), weight, patterns };
  } catch (error) {
    const message = `The segment ${segment} cannot be read and never holds: ${reasonOf(error)}.`;
    problems.report({ code: 'broken_segment', segment, message });
    return { id: segment, ...NO_CONSTRAINTS };
  }
}

const NO_CONSTRAINTS = { constraints: [], ...NEVER, weight: 0, patterns: 0 };

function rejectTooCostly(segment: number, problems: ProblemReporter): CompiledSegment {
  const message = `The segment ${segment} never holds: its regular expressions and lists could take too long together. Use fewer or simpler ones.`;
  problems.report({ code: 'too_costly', segment, message });
  return { id: segment, ...NO_CONSTRAINTS };
}
