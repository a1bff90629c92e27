import type { ProjectRef } from '../common.types.js';
import { LIMITS } from '../validation/limits.js';
import { type JsonSchema, name, type ObjectSchema } from '../validation/primitives.js';
import type { DependencyInput } from './dependency.types.js';
import type { FlagChanges, NewFlag } from './flag.types.js';

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

export const dependency: ObjectSchema<DependencyInput> = {
  type: 'object',
  properties: {
    flag: name,
    enabled: { type: 'boolean' },
    variants: { type: 'array', maxItems: LIMITS.variants, items: name },
  },
  required: ['flag'],
};

/** The project that a flag moves to. */
export const move: ObjectSchema<ProjectRef> = {
  type: 'object',
  properties: { project: name },
  required: ['project'],
};

/** The parent of a dependency that ends. */
export const parent: ObjectSchema<{ readonly flag: string }> = {
  type: 'object',
  properties: { flag: { type: 'string' } },
  required: ['flag'],
};
