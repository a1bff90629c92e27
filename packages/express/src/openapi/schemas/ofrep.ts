import { OFREP_ERROR_CODES } from '../../errors/ofrep-failure.js';
import { boolean, listOf, referTo, text } from './common.js';
import { strictObject } from './strict-object.js';

export const ofrepSchemas = {
  OfrepEvaluations: strictObject({ flags: listOf(referTo('OfrepEvaluation')) }),

  OfrepEvaluation: strictObject(
    {
      key: { type: 'string', description: 'The name of the flag.' },
      value: {
        type: ['boolean', 'string', 'number', 'object', 'array'],
        description: "What the variant's payload holds; where there is none, whether the flag is on.",
      },
      reason: { type: 'string', enum: ['STATIC', 'TARGETING_MATCH', 'SPLIT', 'DISABLED', 'DEFAULT'] },
    },
    {
      variant: text,
      metadata: {
        ...strictObject({
          project: text,
          type: text,
          enabled: { ...boolean, description: 'Whether the flag is on, also where the value is a payload.' },
          stale: boolean,
          impressionData: boolean,
        }),
        description: 'Absent for frontend tokens where the flag is off.',
      },
    },
  ),

  OfrepFailure: strictObject(
    { errorCode: { type: 'string', enum: OFREP_ERROR_CODES }, errorDetails: text },
    { key: { type: 'string', description: 'The flag that was asked for, if it was one.' } },
  ),
};
