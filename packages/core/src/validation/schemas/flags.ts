import type { FlagChanges, NewFlag } from '../../api/flags.js';
import type { JsonSchema, ObjectSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';
import { name } from './names.js';

const description: JsonSchema = { type: ['string', 'null'], maxLength: LIMITS.description };

export function newFlag(flagTypes: readonly string[]): ObjectSchema<NewFlag> {
  return {
    type: 'object',
    properties: {
      name,
      description,
      type: { type: 'string', enum: flagTypes },
      impressionData: { type: 'boolean' },
    },
    required: ['name'],
  };
}

export function flagChanges(flagTypes: readonly string[]): ObjectSchema<FlagChanges> {
  return {
    type: 'object',
    properties: {
      description,
      type: { type: 'string', enum: flagTypes },
      stale: { type: 'boolean' },
      impressionData: { type: 'boolean' },
    },
  };
}

export const clone: ObjectSchema<{ readonly name: string }> = {
  type: 'object',
  properties: { name },
  required: ['name'],
};
