import type { InputSchemas, JsonSchema } from '@flags/core';
import { boolean, listOf, referTo, text } from './common.js';
import { strictObject } from './strict-object.js';
import { variantBase } from './variants.js';

const parameters: JsonSchema = {
  type: ['object', 'null'],
  additionalProperties: { type: ['string', 'number', 'boolean', 'null'] },
  description: 'As they were sent.',
};

const segments: JsonSchema = { type: 'array', items: { type: 'integer' } };

export function strategySchemas({ constraint }: InputSchemas) {
  return {
    Strategy: strictObject(
      { id: { type: 'string', format: 'uuid' }, name: text, constraints: listOf(referTo('Constraint')), parameters },
      {
        title: text,
        disabled: boolean,
        sortOrder: { type: 'integer' },
        segments,
        variants: listOf(referTo('StrategyVariant')),
      },
    ),

    StrategyVariant: strictObject(variantBase, { payload: referTo('Payload') }),

    /** Answered as it was sent, with `values` in any case. What is sent has no members beyond those that are known. */
    Constraint: constraint,
  };
}
