import { type Override, PAYLOAD_TYPES, type Payload, type VariantInput } from '../../api/variants.js';
import type { JsonSchema, ObjectSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';
import { name, text } from './names.js';

export const weight: JsonSchema = { type: 'integer', minimum: 0, maximum: 1000 };

export const payload: ObjectSchema<Payload> = {
  type: 'object',
  properties: {
    type: { type: 'string', enum: PAYLOAD_TYPES },
    value: { type: 'string', maxLength: LIMITS.payloadText },
  },
  required: ['type', 'value'],
  additionalProperties: false,
};

/** What a field of a context is compared with. */
export const values: JsonSchema = {
  type: 'array',
  maxItems: LIMITS.values,
  items: { type: 'string', maxLength: LIMITS.valueText },
};

const override: ObjectSchema<Override> = {
  type: 'object',
  properties: { contextName: text(LIMITS.label), values },
  required: ['contextName', 'values'],
  additionalProperties: false,
};

export const variant: ObjectSchema<VariantInput> = {
  type: 'object',
  properties: {
    name,
    weightType: { type: 'string', enum: ['fix', 'variable'] },
    weight,
    stickiness: text(LIMITS.label),
    payload,
    overrides: { type: 'array', maxItems: LIMITS.overrides, items: override },
  },
  required: ['name'],
  additionalProperties: false,
};

export const variants: JsonSchema = { type: 'array', maxItems: LIMITS.variants, items: variant };
