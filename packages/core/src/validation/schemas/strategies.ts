import {
  CONSTRAINT_OPERATORS,
  type Constraint,
  type StrategyInput,
  type StrategyReplacement,
  type StrategyVariant,
} from '../../api/strategies.js';
import type { JsonSchema, ObjectSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';
import { name, positiveInteger, text } from './names.js';
import { payload, values, weight } from './variants.js';

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

export const strategy: ObjectSchema<StrategyInput> = {
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

/** Without a name, the strategy keeps the one that it has. */
export const strategyReplacement: ObjectSchema<StrategyReplacement> = {
  type: 'object',
  properties: strategy.properties,
};
