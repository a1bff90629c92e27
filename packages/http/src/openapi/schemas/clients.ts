import type { JsonSchema } from '@flags/core/integration';
import { OFREP_ERROR_CODES } from '../../errors.js';
import { contextSchema } from '../../wire/client.js';
import { boolean, count, listOf, mapOf, positiveInteger, referTo, strictObject, text, version } from './common.js';

const variant = { name: text, weight: { type: 'number', minimum: 0 }, stickiness: text };

export const clientSchemas = {
  ClientFeatures: strictObject(
    {
      version: { type: 'integer', const: 2 },
      features: listOf(referTo('ClientFeature')),
      query: strictObject(
        { environment: text },
        { project: listOf(text), namePrefix: text, tag: { ...listOf(listOf(text)), description: 'Type and value.' } },
      ),
    },
    {
      segments: {
        ...listOf(referTo('ClientSegment')),
        description: 'Those that the flags use. Absent for clients that do not know segments.',
      },
    },
  ),

  ClientFeature: strictObject(
    {
      name: text,
      type: text,
      project: text,
      enabled: { ...boolean, description: 'In the environment.' },
      stale: boolean,
      impressionData: boolean,
      strategies: { ...listOf(referTo('ClientStrategy')), description: 'Without those that are disabled.' },
      variants: listOf(referTo('ClientVariant')),
    },
    { description: text, dependencies: listOf(referTo('ClientDependency')) },
  ),

  ClientStrategy: strictObject(
    {
      name: text,
      parameters: { ...mapOf(text), description: 'All values as text.' },
      constraints: listOf(referTo('ClientConstraint')),
    },
    { segments: listOf(positiveInteger), variants: listOf(referTo('ClientStrategyVariant')) },
  ),

  ClientConstraint: strictObject(
    { contextName: text, operator: text, values: listOf(text), inverted: boolean, caseInsensitive: boolean },
    { value: text },
  ),

  ClientVariant: strictObject({ ...variant, overrides: listOf(referTo('Override')) }, { payload: referTo('Payload') }),

  ClientStrategyVariant: strictObject(variant, { payload: referTo('Payload') }),

  ClientDependency: strictObject({ feature: text, enabled: boolean }, { variants: listOf(text) }),

  ClientSegment: strictObject({ id: positiveInteger, name: text, constraints: listOf(referTo('ClientConstraint')) }),

  FeatureStream: {
    type: 'string',
    description: [
      'First unless it resumes: unleash-connected with the event hydration (features, segments); then, as changes are',
      'committed: unleash-updated with events feature-updated (feature), feature-removed (featureName, project),',
      'segment-updated (segment) and segment-removed (segmentId). The data of each is JSON: { "events": [...] }, every',
      'event with type and eventId. Comments are signs of life.',
    ].join(' '),
  },
};

export const frontendSchemas = {
  FrontendToggles: strictObject({
    toggles: { ...listOf(referTo('FrontendToggle')), description: 'The flags that are on.' },
  }),

  FrontendToggle: strictObject({
    name: text,
    enabled: { type: 'boolean', const: true },
    variant: referTo('EvaluatedVariant'),
    impressionData: boolean,
  }),

  EvaluatedVariant: strictObject(
    {
      name: { type: 'string', description: 'disabled when there is none.' },
      enabled: { ...boolean, description: 'Whether there is a variant.' },
      feature_enabled: { ...boolean, description: 'Whether the flag is on.' },
      featureEnabled: { ...boolean, description: 'The same as feature_enabled.' },
    },
    { payload: referTo('Payload') },
  ),
};

export const ofrepSchemas = {
  OfrepEvaluations: strictObject({ flags: listOf(referTo('OfrepEvaluation')) }),

  OfrepEvaluation: strictObject(
    {
      key: { type: 'string', description: 'The name of the flag.' },
      reason: { type: 'string', enum: ['STATIC', 'TARGETING_MATCH', 'SPLIT', 'DISABLED', 'UNKNOWN'] },
    },
    {
      value: {
        type: ['boolean', 'string', 'number', 'object', 'array'],
        description:
          "What the variant's payload holds; where there is none, whether the flag is on. Absent for a flag that is off and whose variants have payloads: use your default.",
      },
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

const hashed = {
  groupId: text,
  id: text,
  bucket: { ...count, description: 'What came out of the hash, or by chance.' },
};

const reason: JsonSchema = {
  type: 'string',
  enum: [
    'unknown_flag',
    'broken_flag',
    'dependency',
    'disabled',
    'no_strategies',
    'strategy',
    'no_strategy_holds',
    'unreadable_context',
  ],
  description: 'What decided. strategy: the last one listed holds.',
};

export const playgroundSchemas = {
  Playground: strictObject(
    { environment: text, features: listOf(referTo('ExplainedFeature')) },
    {
      next: {
        type: 'string',
        description: 'The answer ends before this flag, because it was too long. Send it as `from` for the rest.',
      },
    },
  ),

  ContextList: strictObject({ version, contexts: listOf(contextSchema) }),

  ExplainedFeature: strictObject(
    {
      name: text,
      project: text,
      enabled: boolean,
      reason,
      variant: referTo('EvaluatedVariant'),
      dependencies: listOf(referTo('ExplainedDependency')),
      strategies: { ...listOf(referTo('ExplainedStrategy')), description: 'In order, up to the one that holds.' },
    },
    { variantChoice: referTo('ExplainedVariantChoice') },
  ),

  ExplainedDependency: strictObject({
    dependency: strictObject({ feature: text }, { enabled: boolean, variants: listOf(text) }),
    holds: boolean,
  }),

  ExplainedStrategy: strictObject(
    {
      name: text,
      holds: boolean,
      disabled: boolean,
      constraints: { ...listOf(referTo('ExplainedConstraint')), description: 'Up to the one that fails.' },
      segments: { ...listOf(referTo('ExplainedSegment')), description: 'Up to the one that fails.' },
    },
    {
      isTooCostly: { ...boolean, description: 'Evaluating it could take too long: it does not hold.' },
      test: { ...boolean, description: 'Of the strategy itself; absent where it was not asked.' },
      rollout: referTo('ExplainedRollout'),
    },
  ),

  ExplainedConstraint: strictObject(
    { constraint: referTo('Constraint'), holds: boolean },
    {
      value: { type: 'string', description: 'That of the context.' },
      isCut: { ...boolean, description: 'The explanation was too long: operands and value are left out.' },
    },
  ),

  ExplainedSegment: strictObject({
    id: count,
    found: boolean,
    holds: boolean,
    constraints: listOf(referTo('ExplainedConstraint')),
  }),

  ExplainedRollout: strictObject(
    { holds: boolean, groupId: text, random: boolean, rollout: { type: 'number' } },
    { id: hashed.id, bucket: hashed.bucket },
  ),

  ExplainedVariantChoice: strictObject(
    { variant: { anyOf: [referTo('EvaluatedVariant'), { type: 'null' }] }, overridden: boolean },
    { ...hashed, stickiness: text, random: boolean, totalWeight: { type: 'number' } },
  ),
};
