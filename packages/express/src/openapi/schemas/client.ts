import { boolean, listOf, mapOf, positiveInteger, referTo, text } from './common.js';
import { strictObject } from './strict-object.js';

const variant = { name: text, weight: { type: 'number', minimum: 0 }, stickiness: text };

export const clientSchemas = {
  ClientFeatures: strictObject(
    {
      version: { type: 'integer', const: 2 },
      features: listOf(referTo('ClientFeature')),
      query: strictObject({ environment: text }, { project: listOf(text), namePrefix: text }),
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
