import type { Constraint, ConstraintOperator } from '@flags/core';
import { CONTEXT_MEMBERS, isObject, NoEquivalent } from './importer.js';

/*
 * Converts targeting that gives the same answer as in flagd, for every context of texts, numbers, booleans and absent fields.
 * Here, all values are compared as texts; flagd distinguishes types. So it converts only what both decide alike.
 */

/** The first rule whose constraints all hold decides. */
export interface Rules {
  readonly rules: readonly { readonly constraints: readonly Constraint[]; readonly variant: string }[];
  /** The variant for all other contexts. Undefined: the default variant. */
  readonly otherwise: string | undefined;
}

/** @throws NoEquivalent */
export function toRules(targeting: unknown, defaultVariant: string | undefined): Rules {
  const [operator, operands] = operationOf(targeting);
  // Another hash chooses the users of a share here, so other users would be in it.
  if (operator === 'fractional') throw noEquivalent('fractional');
  if (operator !== 'if') {
    const { alternatives, mayBeNull } = toCondition(targeting);
    // A condition alone selects the variants named true and false, and null the default variant.
    if (mayBeNull && defaultVariant !== 'false') {
      throw noEquivalent('a condition alone that gives the default variant where a value is missing');
    }
    return { rules: alternatives.map((constraints) => ({ constraints, variant: 'true' })), otherwise: 'false' };
  }
  if (operands.length < 2) throw noEquivalent('an if without a rule');
  const rules: Rules['rules'][number][] = [];
  for (let index = 0; index + 1 < operands.length; index += 2) {
    const variant = toVariant(operands[index + 1]);
    rules.push(...toCondition(operands[index]).alternatives.map((constraints) => ({ constraints, variant })));
  }
  if (operands.length % 2 === 0) return { rules, otherwise: undefined };
  const otherwise = operands.at(-1);
  if (!isObject(otherwise)) return { rules, otherwise: otherwise === null ? undefined : toVariant(otherwise) };
  if (!('if' in otherwise)) throw noEquivalent('a variant by expression');
  const nested = toRules(otherwise, defaultVariant);
  return { rules: [...rules, ...nested.rules], otherwise: nested.otherwise };
}

/** Variants are named true and false if rules give booleans. */
function toVariant(given: unknown): string {
  if (typeof given === 'string' || typeof given === 'boolean') return `${given}`;
  throw noEquivalent('a variant by expression');
}

interface Condition {
  /** Lists of constraints, of which one must hold. */
  readonly alternatives: readonly (readonly Constraint[])[];
  /** Whether flagd may answer null in place of false. */
  readonly mayBeNull: boolean;
}

function toCondition(given: unknown): Condition {
  const [operator, operands] = operationOf(given);
  if (operator === 'or' || operator === 'and') {
    const all = operands.map(toCondition);
    if (all.length === 0) throw noEquivalent(`an empty ${operator}`);
    const mayBeNull = all.some((one) => one.mayBeNull);
    if (operator === 'or') return { alternatives: all.flatMap(({ alternatives }) => alternatives), mayBeNull };
    if (all.some(({ alternatives }) => alternatives.length > 1)) throw noEquivalent('an or in an and');
    return { alternatives: [all.flatMap(({ alternatives: [one = []] }) => one)], mayBeNull };
  }
  if (operator === '!') {
    const [inner, ...rest] = operands.map(toCondition);
    const [[constraint, ...constraints] = [], ...alternatives] = inner?.alternatives ?? [];
    if (!constraint || rest.length + constraints.length + alternatives.length > 0) {
      throw noEquivalent('a negation of several conditions');
    }
    return { alternatives: [[{ ...constraint, inverted: constraint.inverted !== true }]], mayBeNull: false };
  }
  const isPart = operator === 'starts_with' || operator === 'ends_with';
  return { alternatives: [[toConstraint(operator, operands)]], mayBeNull: isPart };
}

const PARTS: Readonly<Record<string, ConstraintOperator>> = {
  starts_with: 'STR_STARTS_WITH',
  ends_with: 'STR_ENDS_WITH',
};

interface Comparison {
  readonly operator: ConstraintOperator;
  /** Whether flagd's answer is false for 0 and 1, as which it reads absent values and booleans. */
  readonly isFalseForBooleans: (operand: number) => boolean;
}

const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '>': { operator: 'NUM_GT', isFalseForBooleans: (operand) => operand >= 1 },
  '>=': { operator: 'NUM_GTE', isFalseForBooleans: (operand) => operand > 1 },
  '<': { operator: 'NUM_LT', isFalseForBooleans: (operand) => operand <= 0 },
  '<=': { operator: 'NUM_LTE', isFalseForBooleans: (operand) => operand < 0 },
  '==': { operator: 'NUM_EQ', isFalseForBooleans: (operand) => operand !== 0 && operand !== 1 },
};

function toConstraint(operator: string, operands: readonly unknown[]): Constraint {
  const [left, right] = operands;
  if (operands.length !== 2) throw noEquivalent(`${operator} with ${operands.length} operands`);
  if (/^[!=]==?$/.test(operator)) {
    const isReversed = !isObject(left);
    const contextName = fieldOf(isReversed ? right : left);
    const operand = isReversed ? left : right;
    if (operator === '==' && typeof operand === 'number') return toComparison(operator, contextName, operand);
    return { contextName, operator: operator.startsWith('=') ? 'IN' : 'NOT_IN', values: [toText(operand)] };
  }
  const contextName = fieldOf(left);
  if (operator === 'in' && Array.isArray(right) && right.length > 0) {
    return { contextName, operator: 'IN', values: right.map(toText) };
  }
  const part = Object.hasOwn(PARTS, operator) ? PARTS[operator] : undefined;
  if (part) return { contextName, operator: part, values: [toText(right)] };
  if (typeof right === 'number') return toComparison(operator, contextName, right);
  throw noEquivalent(operator === 'in' ? 'in a field, which may be a text or a list' : `the operator ${operator}`);
}

function toComparison(operator: string, contextName: string, operand: number): Constraint {
  const comparison = Object.hasOwn(COMPARISONS, operator) ? COMPARISONS[operator] : undefined;
  if (!comparison) throw noEquivalent(`the operator ${operator} with a number`);
  if (!comparison.isFalseForBooleans(operand)) {
    throw noEquivalent(`${operator} ${operand}, for which flagd reads absent values as 0`);
  }
  return { contextName, operator: comparison.operator, value: `${operand}` };
}

/** The texts of numbers and booleans. flagd distinguishes them from the values themselves. */
const WORDS = ['true', 'false', 'null', 'undefined', 'NaN', 'Infinity'];
const NUMBER_CHARACTERS = /^[-+.\de]*$/;

/** Returns a text to compare with. Throws for one that may be part of the text of a number or boolean. */
function toText(operand: unknown): string {
  if (typeof operand !== 'string') throw noEquivalent('a comparison with a value that is not a text');
  if (operand.trim() !== operand) throw noEquivalent('a comparison with a text that has blanks around it');
  if (NUMBER_CHARACTERS.test(operand) || WORDS.some((word) => word.includes(operand))) {
    throw noEquivalent(`a comparison with ${JSON.stringify(operand)}, which may be a number or a boolean`);
  }
  return operand;
}

/** Returns the context field of `{ "var": name }`. The targeting key of OpenFeature is the user. */
function fieldOf(given: unknown): string {
  const [operator, operands] = operationOf(given);
  const [name, ...rest] = operands;
  if (operator !== 'var' || typeof name !== 'string') throw noEquivalent('a comparison without a field');
  if (rest.length > 0) throw noEquivalent('a field with a default value');
  if (name === '' || /[.\\]/.test(name)) throw noEquivalent('a field within a field');
  if (name === 'targetingKey') return 'userId';
  if (name.startsWith('$') || name === '__proto__' || Object.hasOwn(CONTEXT_MEMBERS, name)) {
    throw noEquivalent(`the field ${name}, which has a meaning of its own`);
  }
  return name;
}

/** Returns the operator and the operands of a rule, which has one member. One operand needs no list. */
function operationOf(rule: unknown): readonly [operator: string, operands: readonly unknown[]] {
  const [entry, ...others] = isObject(rule) ? Object.entries(rule) : [];
  if (!entry || others.length > 0) throw noEquivalent('an expression in place of a condition');
  const [operator, operands] = entry;
  if (Array.isArray(operands)) return [operator, operands];
  if (operator === 'var' || operator === '!') return [operator, [operands]];
  throw noEquivalent(`${operator} without a list`);
}

function noEquivalent(what: string): NoEquivalent {
  return new NoEquivalent(`its targeting has no equivalent: ${what}`);
}
