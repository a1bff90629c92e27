import { PAYLOAD_TYPES } from '@flags/core';
import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import {
  boolean,
  count,
  listOf,
  optionalTimestamp,
  positiveInteger,
  referTo,
  strictObject,
  text,
  timestamp,
  version,
} from './common.js';

const flag = {
  name: text,
  project: { type: 'string', description: 'The id of the owning project.' },
  description: { type: ['string', 'null'] },
  type: text,
  stale: boolean,
  impressionData: boolean,
  archived: boolean,
  createdAt: timestamp,
  lastSeenAt: optionalTimestamp,
  variants: { anyOf: [listOf(referTo('Variant')), { type: 'null' }], description: 'null when the flag has none.' },
  labels: listOf(text),
  owner: { type: ['string', 'null'] },
} satisfies Readonly<Record<string, JsonSchema>>;

const summary = {
  name: text,
  type: text,
  stale: boolean,
  createdAt: timestamp,
  lastSeenAt: optionalTimestamp,
  environments: listOf(referTo('EnvironmentSummary')),
};

export const flagSchemas = {
  Flag: strictObject(flag),

  FlagDetail: strictObject(
    { ...flag, environments: listOf(referTo('FlagEnvironment')) },
    {
      dependencies: { ...listOf(referTo('Dependency')), description: 'Absent when the flag has none.' },
      children: {
        ...listOf(text),
        description: 'The flags, not archived, that depend on this one; absent when there are none.',
      },
    },
  ),

  Tag: strictObject({ type: { type: 'string', const: 'simple' }, value: text }),

  TagList: strictObject({ version, tags: listOf(referTo('Tag')) }),

  TagTypeList: strictObject({ version, tagTypes: listOf(referTo('TagType')) }),

  TagType: strictObject({ name: text, description: text, icon: text }),

  EnvironmentList: strictObject({ version, environments: listOf(referTo('Environment')) }),

  Environment: strictObject({
    name: text,
    displayName: text,
    type: { type: 'string', enum: ['development', 'test', 'preproduction', 'production'] },
    enabled: boolean,
    protected: boolean,
    sortOrder: positiveInteger,
  }),

  FlagEnvironment: strictObject({
    name: text,
    enabled: boolean,
    strategies: listOf(referTo('Strategy')),
  }),

  FlagInEnvironment: strictObject({
    name: { ...text, description: 'The name of the flag.' },
    environment: text,
    enabled: boolean,
    strategies: listOf(referTo('Strategy')),
  }),

  FlagSummary: strictObject(summary),

  Feature: strictObject({
    name: text,
    project: text,
    description: flag.description,
    type: text,
    stale: boolean,
    archived: boolean,
    labels: flag.labels,
    owner: flag.owner,
    revision: positiveInteger,
    createdAt: timestamp,
    lastSeenAt: optionalTimestamp,
    environments: listOf(referTo('FeatureEnvironment')),
  }),

  FeatureEnvironment: strictObject({
    name: text,
    enabled: boolean,
    strategyCount: count,
    rollout: {
      type: 'integer',
      minimum: 0,
      maximum: 100,
      description: 'The largest percentage of one strategy; 100 of one without a percentage, 0 without strategies.',
    },
    hasVariants: { ...boolean, description: 'Of the flag, or of a strategy in this environment.' },
    audience: {
      ...listOf(referTo('AudiencePart')),
      maxItems: 2,
      description: 'Whom the strategies admit while the flag is enabled. Empty without strategies.',
    },
    offBecauseOf: {
      type: ['string', 'null'],
      description: 'The parent that switches the flag off here for everybody, although it is enabled.',
    },
  }),

  AudiencePart: strictObject(
    { rollout: { type: 'integer', minimum: 0, maximum: 100 } },
    {
      segment: { type: 'integer', description: 'The segment that is the only condition.' },
      list: strictObject({ noun: { type: 'string', enum: ['user', 'address', 'host'] }, count }),
      field: { type: 'string', description: 'The context field without which the flag is off.' },
      targeted: { ...boolean, description: 'Other conditions.' },
    },
  ),

  FeatureList: strictObject({
    version,
    features: listOf(referTo('Feature')),
    total: { ...count, description: 'Of all pages.' },
  }),

  EnvironmentSummary: strictObject({ name: text, displayName: text, enabled: boolean }),

  FlagList: strictObject({ version, features: listOf(referTo('FlagSummary')) }),

  ArchivedFlag: strictObject({
    ...summary,
    project: text,
    archived: { type: 'boolean', const: true },
    archivedAt: { ...optionalTimestamp, description: 'null for a flag that release 0.1 has archived.' },
    description: flag.description,
    impressionData: boolean,
  }),

  ArchivedFlagList: strictObject({ version, features: listOf(referTo('ArchivedFlag')) }),
};

const weightType: JsonSchema = { type: 'string', enum: ['fix', 'variable'] };
const weight: JsonSchema = { type: 'integer', minimum: 0, maximum: 1000 };

/** The members that flag variants and strategy variants share. */
const variantBase = { name: text, weightType, weight, stickiness: text };

export const variantSchemas = {
  Variant: strictObject({ ...variantBase, overrides: listOf(referTo('Override')) }, { payload: referTo('Payload') }),

  Payload: strictObject({ type: { type: 'string', enum: PAYLOAD_TYPES }, value: text }),

  Override: strictObject({ contextName: text, values: listOf(text) }),

  VariantList: strictObject({ version: { type: 'string', const: '1' }, variants: listOf(referTo('Variant')) }),

  VariantWeight: strictObject({ name: text, weightType, weight }),

  VariantWeights: strictObject({
    version: { type: 'string', const: '1' },
    variants: listOf(referTo('VariantWeight')),
  }),
};

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

    StrategyList: listOf(referTo('Strategy')),

    StrategyVariant: strictObject(variantBase, { payload: referTo('Payload') }),

    /**
     * Replies repeat the constraint of the request, and always add `values`. Requests may not contain unknown members.
     */
    Constraint: constraint,
  };
}

export const dependencySchemas = {
  Dependency: strictObject({
    feature: { type: 'string', description: 'The name of the parent.' },
    enabled: { ...boolean, description: 'Whether the parent has to be on, or off.' },
    variants: { ...listOf(text), description: 'One of these the parent has to have; any when empty.' },
  }),

  PossibleParents: listOf(text),
};

export const segmentSchemas = {
  Segment: strictObject({
    id: positiveInteger,
    name: text,
    description: text,
    constraints: listOf(referTo('Constraint')),
    project: { type: ['string', 'null'], description: 'Whose flags alone may use it; null: those of every project.' },
    createdAt: timestamp,
    createdBy: text,
  }),

  SegmentList: strictObject({ segments: listOf(referTo('Segment')) }),

  SegmentUses: strictObject({ strategies: listOf(referTo('SegmentUse')) }),

  SegmentUse: strictObject({
    id: { type: 'string', description: 'The id of the strategy.' },
    featureName: text,
    projectId: text,
    environment: text,
  }),
};
