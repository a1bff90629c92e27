import type { ProjectRef } from '../base/common.types.js';
import { LIMITS } from '../base/limits.js';
import { type JsonSchema, name, type ObjectSchema, pageQuery, text } from '../base/primitives.js';
import { uniqueTexts } from '../base/validator.js';
import type { ErrorDetail } from '../errors.js';
import type { DependencyInput } from './dependency.types.js';
import type { FlagChanges, LabelChanges, NewFlag } from './flag.types.js';
import { FLAG_SORTS, type FlagQuery } from './flag-search.types.js';

const description: JsonSchema = { type: ['string', 'null'], maxLength: LIMITS.description };
const labels: JsonSchema = { type: 'array', maxItems: LIMITS.labelsPerFlag, items: text(LIMITS.flagLabel) };
const owner: JsonSchema = { ...text(LIMITS.owner), type: ['string', 'null'] };

/** The types of flags are an option, so they are checked beside the schema. */
const type: JsonSchema = { type: 'string' };

export const newFlag: ObjectSchema<NewFlag> = {
  type: 'object',
  properties: { name, description, type, impressionData: { type: 'boolean' }, labels, owner },
  required: ['name'],
};

export const flagChanges: ObjectSchema<FlagChanges> = {
  type: 'object',
  properties: {
    description,
    type,
    stale: { type: 'boolean' },
    impressionData: { type: 'boolean' },
    labels,
    owner,
  },
};

export const findLabelIssues = uniqueTexts<FlagChanges>('labels');

export const labelChanges: ObjectSchema<LabelChanges> = {
  type: 'object',
  properties: { add: labels, remove: labels },
};

export const clone: ObjectSchema<{ readonly name: string }> = {
  type: 'object',
  properties: { name },
  required: ['name'],
};

/** One text or several. */
function oneOrMore(maxItems: number): JsonSchema {
  return { type: ['string', 'array'], maxItems, items: { type: 'string' } };
}

export const flagQuery: ObjectSchema<FlagQuery> = {
  type: 'object',
  properties: {
    ...pageQuery.properties,
    query: { type: 'string', maxLength: LIMITS.searchText },
    namePrefix: { type: 'string', maxLength: LIMITS.name },
    project: oneOrMore(LIMITS.projectsPerQuery),
    type: { type: 'string' },
    label: oneOrMore(LIMITS.labelsPerFlag),
    owner: { type: 'string' },
    stale: { type: 'boolean' },
    archived: { type: 'boolean' },
    enabledIn: { type: 'string' },
    sort: { type: 'string', enum: FLAG_SORTS },
  },
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
