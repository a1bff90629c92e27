import type { Constraint, ConstraintOperator } from '@flags/core';
import { membersOf } from './importer.js';

export interface Rules {
  /** The first rule whose constraints all match decides. */
  readonly rules: readonly { readonly constraints: readonly Constraint[]; readonly variant: unknown }[];
  /** The variant for all other contexts. Undefined: the default variant. */
  readonly otherwise: unknown;
}

/** Converts `if` rules. Returns undefined if a condition has no equivalent. */
export function toRules(targeting: unknown): Rules | undefined {
  const operands = operandsOf(targeting, 'if');
  if (!operands) {
    const conditions = isRule(targeting) ? toAlternatives(targeting) : undefined;
    // A condition alone selects the variants named true and false.
    return conditions && { rules: conditions.map((constraints) => ({ constraints, variant: true })), otherwise: false };
  }
  const rules: Rules['rules'][number][] = [];
  for (let index = 0; index + 1 < operands.length; index += 2) {
    const alternatives = toAlternatives(operands[index]);
    const variant = operands[index + 1];
    if (!alternatives || isExpression(variant)) return undefined;
    rules.push(...alternatives.map((constraints) => ({ constraints, variant })));
  }
  const otherwise = operands.length % 2 === 1 ? (operands.at(-1) ?? undefined) : undefined;
  if (!isExpression(otherwise)) return { rules, otherwise };
  const nested = toRules(otherwise);
  return nested && { rules: [...rules, ...nested.rules], otherwise: nested.otherwise };
}

export interface Distribution {
  /** In thousandths. */
  readonly weights: readonly (readonly [variant: string, weight: number])[];
  readonly stickiness: string;
}

/**
 * Converts `fractional`, with or without the value that is hashed. Returns undefined if an expression gives a variant, a
 * weight or more than one field of the context, or if all weights are 0.
 */
export function distributionOf(targeting: unknown): Distribution | undefined {
  const operands = operandsOf(targeting, 'fractional');
  if (!operands) return undefined;
  const [first, ...rest] = operands;
  const isSpread = Array.isArray(first);
  const shares = isSpread ? operands : rest;
  if (!shares.every(isShare)) return undefined;
  const total = shares.reduce((sum, [, weight = 1]) => sum + weight, 0);
  const fields = new Set(isSpread ? ['targetingKey'] : variablesIn(first).filter((one) => !one.startsWith('$flagd')));
  const [field = ''] = fields;
  if (total === 0 || fields.size !== 1) return undefined;
  const weights = shares.map(([variant, weight = 1]) => [variant, Math.round((weight * 1000) / total)] as const);
  return { weights, stickiness: field === 'targetingKey' ? 'userId' : field };
}

type Share = readonly [variant: string, weight?: number];

function isShare(share: unknown): share is Share {
  if (!Array.isArray(share)) return false;
  const [variant, weight = 1] = share;
  return typeof variant === 'string' && Number.isFinite(weight) && weight >= 0;
}

function variablesIn(rule: unknown): readonly string[] {
  if (Array.isArray(rule)) return rule.flatMap(variablesIn);
  if (!isRule(rule)) return [];
  return Object.entries(membersOf(rule)).flatMap(([operator, operands]) =>
    operator === 'var' ? [`${[operands].flat()[0]}`] : variablesIn(operands),
  );
}

/** A rule, a list of rules, or a value: text, number or boolean. */
function isExpression(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isRule(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The operators that give null instead of false for a missing or wrong value. */
const NULLABLE: ReadonlySet<string> = new Set(['sem_ver', 'starts_with', 'ends_with']);

/** Whether a condition alone may give null, for which flagd answers the default variant. `and` and `or` pass it on. */
export function mayGiveNull(condition: unknown): boolean {
  if (!isRule(condition)) return false;
  return Object.entries(membersOf(condition)).some(([operator, operands]) =>
    operator === 'and' || operator === 'or' ? [operands].flat().some(mayGiveNull) : NULLABLE.has(operator),
  );
}

function operandsOf(rule: unknown, operator: string): readonly unknown[] | undefined {
  const operands = membersOf(rule)[operator];
  return Array.isArray(operands) ? operands : undefined;
}

/** Returns alternative lists of constraints; undefined if the condition has no equivalent. */
function toAlternatives(condition: unknown): readonly (readonly Constraint[])[] | undefined {
  const [entry, ...others] = Object.entries(membersOf(condition));
  if (!entry || others.length > 0) return undefined;
  const [operator, given] = entry;
  const operands: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (operator === 'or') {
    const all = operands.map(toAlternatives);
    return all.some((one) => one === undefined) ? undefined : all.flatMap((one) => one ?? []);
  }
  if (operator === 'and') {
    const all = operands.map(toAlternatives);
    if (all.some((one) => one?.length !== 1)) return undefined;
    return [all.flatMap((one) => one?.[0] ?? [])];
  }
  if (operator === '!' || operator === 'not') {
    const [[only, ...rest] = [], ...more] = toAlternatives(operands[0]) ?? [];
    return only && rest.length + more.length === 0 ? [[{ ...only, inverted: only.inverted !== true }]] : undefined;
  }
  const constraint = toConstraint(operator, operands);
  return constraint && [[constraint]];
}

const NUMBERS: Readonly<Record<string, ConstraintOperator>> = {
  '>': 'NUM_GT',
  '>=': 'NUM_GTE',
  '<': 'NUM_LT',
  '<=': 'NUM_LTE',
};
const VERSIONS: Readonly<Record<string, ConstraintOperator>> = {
  '=': 'SEMVER_EQ',
  '>': 'SEMVER_GT',
  '>=': 'SEMVER_GTE',
  '<': 'SEMVER_LT',
  '<=': 'SEMVER_LTE',
};

function toConstraint(operator: string, [left, right, third]: readonly unknown[]): Constraint | undefined {
  const contextName = fieldOf(left);
  if (operator === 'in' && contextName === undefined) {
    const field = fieldOf(right);
    return field !== undefined && typeof left === 'string'
      ? { contextName: field, operator: 'STR_CONTAINS', values: [left] }
      : undefined;
  }
  if (contextName === undefined) return undefined;
  const isPlain = typeof right === 'string' || typeof right === 'number' || typeof right === 'boolean';
  if (operator === 'in' && Array.isArray(right) && right.length > 0) {
    return { contextName, operator: 'IN', values: right.map(String) };
  }
  if (/^===?$/.test(operator) && isPlain) return { contextName, operator: 'IN', values: [`${right}`] };
  if (/^!==?$/.test(operator) && isPlain) return { contextName, operator: 'NOT_IN', values: [`${right}`] };
  if (operator === 'starts_with' && isPlain) return { contextName, operator: 'STR_STARTS_WITH', values: [`${right}`] };
  if (operator === 'ends_with' && isPlain) return { contextName, operator: 'STR_ENDS_WITH', values: [`${right}`] };
  if (Object.hasOwn(NUMBERS, operator) && typeof right === 'number') {
    return { contextName, operator: NUMBERS[operator] as ConstraintOperator, value: `${right}` };
  }
  if (operator === 'sem_ver' && typeof right === 'string' && typeof third === 'string') {
    const isNegated = right === '!=';
    const comparison = isNegated ? '=' : right;
    const compared = Object.hasOwn(VERSIONS, comparison) ? VERSIONS[comparison] : undefined;
    return compared && { contextName, operator: compared, value: third, ...(isNegated && { inverted: true }) };
  }
  return undefined;
}

/** The targeting key of OpenFeature is the user. */
function fieldOf(value: unknown): string | undefined {
  const name = membersOf(value).var;
  const field = Array.isArray(name) ? name[0] : name;
  if (typeof field !== 'string' || field.startsWith('$flagd')) return undefined;
  return field === 'targetingKey' ? 'userId' : field;
}
