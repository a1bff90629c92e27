import type { ConstraintDefinition, EvaluationOperator } from '../../api/definitions.js';
import type { EvaluationProblemCode } from '../../api/evaluation-problem.js';
import { always, never, type Predicate } from '../context.js';
import { type FieldReader, fieldReader } from '../context-field.js';
import { text } from '../shape.js';
import { isInCidr } from './address.js';
import { isAfter, isBefore, type MomentTestFactory, type Now } from './date.js';
import { isIn, isNotIn } from './membership.js';
import { equalTo, greaterOrEqual, greaterThan, lessOrEqual, lessThan } from './number.js';
import { matchesPattern } from './pattern.js';
import { contains, endsWith, startsWith } from './text-part.js';
import type { ValueTestFactory } from './value-test.js';
import { newerVersion, olderVersion, sameOrNewerVersion, sameOrOlderVersion, sameVersion } from './version.js';

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
