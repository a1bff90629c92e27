import type { ProjectRef } from '../../base/common.types.js';
import type { ErrorDetail } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { name, type ObjectSchema } from '../../base/primitives.js';
import { uniqueTexts } from '../../base/validator.js';
import type { DependencyInput } from './dependency.types.js';
import { FLAG_MEMBERS, memberSchemas } from './flag.js';
import type { FlagChanges, LabelChanges, NewFlag } from './flag.types.js';
import { filterSchemas } from './flag-filters.js';
import { FLAG_SORTS, type FlagQuery } from './flag-search.types.js';

const MEMBERS = memberSchemas();
const { stale: _, ...NEW_MEMBERS } = MEMBERS;

export const newFlag: ObjectSchema<NewFlag> = {
  type: 'object',
  properties: { name, ...NEW_MEMBERS },
  required: ['name'],
};

export const flagChanges: ObjectSchema<FlagChanges> = { type: 'object', properties: MEMBERS };

export const findLabelIssues = uniqueTexts<FlagChanges>('labels');

export const labelChanges: ObjectSchema<LabelChanges> = {
  type: 'object',
  properties: { add: FLAG_MEMBERS.labels.schema, remove: FLAG_MEMBERS.labels.schema },
};

export const clone: ObjectSchema<{ readonly name: string }> = {
  type: 'object',
  properties: { name },
  required: ['name'],
};

export const flagQuery: ObjectSchema<FlagQuery> = {
  type: 'object',
  properties: { ...filterSchemas(), sort: { type: 'string', enum: FLAG_SORTS } },
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

/** A parent that is off has no variant. */
export function findDependencyIssues({ enabled = true, variants = [] }: DependencyInput): readonly ErrorDetail[] {
  if (enabled || variants.length === 0) return [];
  return [{ message: 'must be empty if the parent must be off', path: '/variants' }];
}

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
