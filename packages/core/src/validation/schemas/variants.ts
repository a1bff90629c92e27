import { type Override, PAYLOAD_TYPES, type Payload, type VariantInput } from '../../api/variants.js';
import type { JsonSchema, ObjectSchema } from '../json-schema.js';
import { name, text } from './names.js';

export const weight: JsonSchema = { type: 'integer', minimum: 0, maximum: 1000 };

export const payload: ObjectSchema<Payload> = {
  type: 'object',
  properties: { type: { type: 'string', enum: PAYLOAD_TYPES }, value: { type: 'string' } },
  required: ['type', 'value'],
  additionalProperties: false,
};

const override: ObjectSchema<Override> = {
  type: 'object',
  properties: { contextName: text(100), values: { type: 'array', items: { type: 'string' } } },
  required: ['contextName', 'values'],
  additionalProperties: false,
};

export const variant: ObjectSchema<VariantInput> = {
  type: 'object',
  properties: {
    name,
    weightType: { type: 'string', enum: ['fix', 'variable'] },
    weight,
    stickiness: text(100),
    payload,
    overrides: { type: 'array', items: override },
  },
  required: ['name'],
  additionalProperties: false,
};

export const variants: JsonSchema = { type: 'array', maxItems: 1000, items: variant };
