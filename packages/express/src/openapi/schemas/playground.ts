import type { JsonSchema } from '@flags/core';
import { boolean, count, listOf, referTo, text } from './common.js';
import { strictObject } from './strict-object.js';

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
        description: 'The answer was too long: the first flag that is left out. Send it as `from` for the rest.',
      },
    },
  ),

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
