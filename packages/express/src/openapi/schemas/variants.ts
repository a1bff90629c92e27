import { type JsonSchema, PAYLOAD_TYPES } from '@flags/core';
import { listOf, referTo, text } from './common.js';
import { strictObject } from './strict-object.js';

const weightType: JsonSchema = { type: 'string', enum: ['fix', 'variable'] };
const weight: JsonSchema = { type: 'integer', minimum: 0, maximum: 1000 };

/** What every variant has, those of a strategy too. */
export const variantBase = { name: text, weightType, weight, stickiness: text };

export const variantSchemas = {
  Variant: strictObject({ ...variantBase, overrides: listOf(referTo('Override')) }, { payload: referTo('Payload') }),

  Payload: strictObject({ type: { type: 'string', enum: PAYLOAD_TYPES }, value: text }),

  Override: strictObject({ contextName: text, values: listOf(text) }),

  VariantWeight: strictObject({ name: text, weightType, weight }),

  VariantWeights: strictObject({
    version: { type: 'string', const: '1' },
    variants: listOf(referTo('VariantWeight')),
  }),
};
