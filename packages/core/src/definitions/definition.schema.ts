import type { ErrorDetail } from '../errors.js';
import { dependency, newFlag } from '../flags/flag.schema.js';
import { constraints, strategy } from '../flags/strategies.schema.js';
import { variants } from '../flags/variants.schema.js';
import type { Settings } from '../flags.js';
import { member, newProject } from '../projects/project.schema.js';
import { newSegment } from '../segments/segment.schema.js';
import { LIMITS } from '../validation/limits.js';
import { dateTime, type JsonSchema, name, type ObjectSchema, positiveInteger, text } from '../validation/primitives.js';
import type {
  DefinedEnvironment,
  DefinedFlag,
  DefinedProject,
  DefinedSegment,
  DefinedStrategy,
  Definitions,
} from './definition.types.js';

const createdAt: JsonSchema = { ...dateTime, description: 'When it was created; only for a new one.' };

export const projectDefinition: ObjectSchema<DefinedProject> = {
  type: 'object',
  properties: { ...newProject.properties, createdAt, members: { type: 'array', maxItems: 10_000, items: member } },
  required: ['id'],
  additionalProperties: false,
};

export const segmentDefinition: ObjectSchema<DefinedSegment> = {
  type: 'object',
  properties: { ...newSegment.properties, constraints, id: positiveInteger, createdAt, createdBy: text(LIMITS.title) },
  required: ['name'],
  additionalProperties: false,
};

const strategyDefinition: ObjectSchema<DefinedStrategy> = {
  type: 'object',
  properties: {
    ...strategy.properties,
    id: text(LIMITS.label),
    segments: {
      type: 'array',
      maxItems: LIMITS.segmentsPerStrategy,
      items: { type: ['string', 'integer'], minLength: 1, maxLength: LIMITS.label, minimum: 1 },
      description: 'Names of segments, or ids.',
    },
  },
  required: ['name'],
  additionalProperties: false,
};

const environmentDefinition: ObjectSchema<DefinedEnvironment> = {
  type: 'object',
  properties: {
    enabled: { type: 'boolean' },
    strategies: { type: 'array', maxItems: LIMITS.strategiesPerEnvironment, items: strategyDefinition },
  },
  additionalProperties: false,
};

/** The type of a flag is checked later, because an existing flag may keep a type that is not configured any more. */
export const flagDefinition: ObjectSchema<DefinedFlag> = {
  type: 'object',
  properties: {
    ...newFlag([]).properties,
    type: { type: 'string', minLength: 1, maxLength: LIMITS.name },
    project: name,
    stale: { type: 'boolean' },
    archived: { type: 'boolean' },
    archivedAt: { ...dateTime, type: ['string', 'null'] },
    createdAt,
    variants,
    dependencies: {
      type: 'array',
      maxItems: LIMITS.dependencies,
      items: { ...dependency, additionalProperties: false },
    },
    environments: {
      type: 'object',
      maxProperties: 1000,
      additionalProperties: environmentDefinition,
      description: 'By the name of the environment.',
    },
  },
  required: ['name'],
  additionalProperties: false,
};

/** The members of a document, before its items are validated. */
export const envelope: ObjectSchema<Definitions & { readonly $schema?: string }> = {
  type: 'object',
  properties: {
    $schema: { type: 'string' },
    version: { const: 1 },
    projects: { type: 'array' },
    segments: { type: 'array' },
    flags: { type: 'array' },
  },
  required: ['version'],
  additionalProperties: false,
};

/**
 * Returns the JSON Schema of definitions, for editors. With settings, it names the flag types and environments.
 *
 * @example
 * await writeFile('flags.schema.json', JSON.stringify(definitionsSchema(flags.settings)));
 */
export function definitionsSchema(settings?: Pick<Settings, 'flagTypes' | 'environments'>): JsonSchema {
  const { environments } = flagDefinition.properties;
  const flag = settings && {
    type: { type: 'string', enum: settings.flagTypes.map((type) => type.name) },
    environments: {
      ...environments,
      propertyNames: { enum: settings.environments.map((environment) => environment.name) },
    },
  };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Feature flags',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      version: { const: 1 },
      projects: { type: 'array', items: projectDefinition },
      segments: { type: 'array', items: segmentDefinition },
      flags: { type: 'array', items: { ...flagDefinition, properties: { ...flagDefinition.properties, ...flag } } },
    },
    required: ['version'],
    additionalProperties: false,
  };
}

/** Prefixes the paths of issues. */
export function* issuesAt(path: string, issues: Iterable<ErrorDetail>): Generator<ErrorDetail> {
  for (const issue of issues) yield { ...issue, path: `${path}${issue.path ?? ''}` };
}
