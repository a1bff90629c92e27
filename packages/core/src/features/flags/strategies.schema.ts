import type { ErrorDetail } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import {
  type JsonSchema,
  name,
  type ObjectSchema,
  parseIsoDate,
  parseNumber,
  positiveInteger,
  text,
} from '../../base/primitives.js';
import type { Constraint, ParameterValue, StrategyParameters } from '../../evaluation/definitions.types.js';
import { isIpAddressOrCidr } from '../../evaluation/ip-address.js';
import { CONSTRAINT_OPERATORS, type OperandKind, operandOf } from '../../evaluation/operators.js';
import { isSemver } from '../../evaluation/semver.js';
import { percentageParameter, STRATEGIES } from '../../evaluation/strategies.js';
import { WHOLE_PERCENTS } from './faults.js';
import type {
  ConfiguredStrategy,
  EnvironmentInput,
  StrategyInput,
  StrategyPlace,
  StrategyReplacement,
  StrategyVariant,
} from './strategy.types.js';
import { findPayloadIssues, findRepeated, payload, values, weight } from './variants.schema.js';

export const constraint: ObjectSchema<Constraint> = {
  type: 'object',
  properties: {
    contextName: text(LIMITS.label),
    operator: { type: 'string', enum: CONSTRAINT_OPERATORS },
    values,
    value: { type: 'string', maxLength: LIMITS.valueText },
    inverted: { type: 'boolean' },
    caseInsensitive: { type: 'boolean' },
  },
  required: ['contextName', 'operator'],
  additionalProperties: false,
};

export const constraints: JsonSchema = { type: 'array', maxItems: LIMITS.constraints, items: constraint };

const strategyVariant: ObjectSchema<StrategyVariant> = {
  type: 'object',
  properties: {
    name,
    weightType: { type: 'string', enum: ['fix', 'variable'] },
    weight,
    stickiness: text(LIMITS.label),
    payload,
  },
  required: ['name', 'weightType', 'weight', 'stickiness'],
  additionalProperties: false,
};

const parameters: JsonSchema = {
  type: ['object', 'null'],
  maxProperties: LIMITS.parameters,
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'], maxLength: LIMITS.parameterText },
};

export const strategy: ObjectSchema<StrategyInput<string>> = {
  type: 'object',
  properties: {
    name: text(LIMITS.label),
    parameters,
    constraints,
    title: { type: 'string', maxLength: LIMITS.title },
    disabled: { type: 'boolean' },
    sortOrder: { type: 'integer' },
    segments: { type: 'array', maxItems: LIMITS.segmentsPerStrategy, items: positiveInteger },
    variants: { type: 'array', maxItems: LIMITS.variants, items: strategyVariant },
  },
  required: ['name'],
};

/** Without a name, the strategy keeps its name. */
export const strategyReplacement: ObjectSchema<StrategyReplacement<string>> = {
  type: 'object',
  properties: strategy.properties,
};

const configuredStrategy: ObjectSchema<ConfiguredStrategy<string>> = {
  type: 'object',
  properties: { ...strategy.properties, id: text(LIMITS.label) },
  required: ['name'],
};

/** The whole configuration of an environment. */
export const environment: ObjectSchema<EnvironmentInput<string>> = {
  type: 'object',
  properties: {
    enabled: { type: 'boolean' },
    strategies: { type: 'array', maxItems: LIMITS.strategiesPerEnvironment, items: configuredStrategy },
  },
  required: ['enabled', 'strategies'],
};

const strategyPlace: ObjectSchema<StrategyPlace> = {
  type: 'object',
  properties: { id: text(LIMITS.label), sortOrder: { type: 'integer' } },
  required: ['id', 'sortOrder'],
};

export const strategyOrder: JsonSchema = {
  type: 'array',
  maxItems: LIMITS.strategiesPerEnvironment,
  items: strategyPlace,
};

/** Finds issues of every strategy, and repeated ids. */
export function* findEnvironmentIssues({ strategies }: EnvironmentInput<string>): Generator<ErrorDetail> {
  for (const [i, strategy] of strategies.entries()) {
    for (const { message, path = '' } of findStrategyIssues(strategy))
      yield { message, path: `/strategies/${i}${path}` };
  }
  yield* findRepeatedIds(strategies, '/strategies');
}

/** Finds ids that occur more than once. */
export function findRepeatedIds(strategies: readonly { readonly id?: string }[], path = ''): Iterable<ErrorDetail> {
  return findRepeated(
    strategies,
    ({ id }) => id,
    (index) => `${path}/${index}/id`,
  );
}

/**
 * Finds operands that do not fit their operators. A generator, because hundreds of thousands of values may be invalid.
 */
export function* findConstraintIssues(constraints: readonly Constraint[]): Generator<ErrorDetail> {
  for (const [i, constraint] of constraints.entries()) yield* findOperandIssues(constraint, `/constraints/${i}`);
}

function findOperandIssues(constraint: Constraint, path: string): Iterable<ErrorDetail> {
  return OPERAND_RULES[operandOf(constraint.operator) ?? 'texts'](constraint, path);
}

type OperandRule = (constraint: Constraint, path: string) => Iterable<ErrorDetail>;

/** What an operand must be, by its kind. */
const OPERAND_RULES: Readonly<Record<OperandKind, OperandRule>> = {
  texts: onValues(findEmptyValues),
  networks: onValues(findNetworkIssues),
  number: onValue((value) => parseNumber(value) !== undefined, 'a finite number'),
  moment: onValue((value) => parseIsoDate(value) !== undefined, 'an ISO 8601 date'),
  version: onValue(isSemver, 'a version as in Semantic Versioning 2.0'),
  // Compiled later, in slices, and only if it is new.
  pattern: onValue(() => true, ''),
};

function onValue(holds: (value: string) => boolean, description: string): OperandRule {
  return ({ operator, value }, path) => {
    if (value === undefined) return [{ message: `is required for ${operator}`, path: `${path}/value` }];
    return holds(value) ? [] : [{ message: `must be ${description}`, path: `${path}/value` }];
  };
}

function onValues(findIssues: (values: readonly string[], path: string) => Iterable<ErrorDetail>): OperandRule {
  return ({ operator, values }, path) => {
    if (values === undefined) return [{ message: `is required for ${operator}`, path: `${path}/values` }];
    return findIssues(values, `${path}/values`);
  };
}

const NO_VALUES = 'must have at least one value';

function* findNetworkIssues(values: readonly string[], path: string): Generator<ErrorDetail> {
  if (values.length === 0) yield { message: NO_VALUES, path };
  const message = 'must be an IP address, or a network such as 10.0.0.0/8 or 2001:db8::/32';
  for (const [i, value] of values.entries())
    if (!isIpAddressOrCidr(value.trim())) yield { message, path: `${path}/${i}` };
}

/** SDKs disagree about empty values: some match every text, others ignore them. */
function* findEmptyValues(values: readonly string[], path: string): Generator<ErrorDetail> {
  if (values.length === 0) yield { message: NO_VALUES, path };
  for (const [i, value] of values.entries())
    if (value === '') yield { message: 'must not be empty', path: `${path}/${i}` };
}

/**
 * Finds issues that the schema of a strategy cannot express: operands that do not fit their operators, repeated
 * segments, and an invalid percentage.
 */
export function* findStrategyIssues(strategy: Partial<StrategyInput<string>>): Generator<ErrorDetail> {
  yield* findPercentageIssues(strategy);
  yield* findConstraintIssues(strategy.constraints ?? []);
  yield* findRepeated(
    strategy.segments ?? [],
    (id) => id,
    (index) => `/segments/${index}`,
  );
  for (const [i, variant] of (strategy.variants ?? []).entries()) yield* findVariantIssues(variant, `/variants/${i}`);
}

function findPercentageIssues(strategy: Partial<StrategyInput<string>>): readonly ErrorDetail[] {
  const { name = '' } = strategy;
  const parameters: StrategyParameters | null | undefined = strategy.parameters;
  const parameter = percentageParameter(name);
  if (parameter === undefined || !parameters || !Object.hasOwn(parameters, parameter)) return [];
  if (STRATEGIES.get(name)?.acceptsAnyPercentage) return [];
  const percentage = toPercentage(parameters[parameter]);
  if (percentage !== undefined && percentage >= 0 && percentage <= 100) return [];
  return [{ message: WHOLE_PERCENTS, path: `/parameters/${parameter}` }];
}

function toPercentage(value: ParameterValue | undefined): number | undefined {
  return typeof value === 'string' ? parseNumber(value) : typeof value === 'number' ? value : undefined;
}

function findVariantIssues({ payload }: StrategyVariant, path: string): readonly ErrorDetail[] {
  return payload ? findPayloadIssues(payload, `${path}/payload`) : [];
}
