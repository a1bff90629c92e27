import {
  CONSTRAINT_OPERATORS,
  type Constraint,
  type StrategyInput,
  type StrategyVariant,
} from '../../api/strategies.js';
import type { JsonSchema, ObjectSchema } from '../json-schema.js';
import { name, text } from './names.js';
import { payload, weight } from './variants.js';

export const constraint: ObjectSchema<Constraint> = {
  type: 'object',
  properties: {
    contextName: text(100),
    operator: { type: 'string', enum: CONSTRAINT_OPERATORS },
    values: { type: 'array', items: { type: 'string' } },
    value: { type: 'string' },
    inverted: { type: 'boolean' },
    caseInsensitive: { type: 'boolean' },
  },
  required: ['contextName', 'operator'],
  additionalProperties: false,
};

export const constraints: JsonSchema = { type: 'array', maxItems: 1000, items: constraint };

const strategyVariant: ObjectSchema<StrategyVariant> = {
  type: 'object',
  properties: {
    name,
    weightType: { type: 'string', enum: ['fix', 'variable'] },
    weight,
    stickiness: text(100),
    payload,
  },
  required: ['name', 'weightType', 'weight', 'stickiness'],
  additionalProperties: false,
};

const parameters: JsonSchema = {
  type: ['object', 'null'],
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
};

export const strategy: ObjectSchema<StrategyInput> = {
  type: 'object',
  properties: {
    name: text(100),
    parameters,
    constraints,
    title: { type: 'string' },
    disabled: { type: 'boolean' },
    sortOrder: { type: 'integer' },
    segments: { type: 'array', maxItems: 1000, items: { type: 'integer' } },
    variants: { type: 'array', items: strategyVariant },
  },
  required: ['name'],
};
