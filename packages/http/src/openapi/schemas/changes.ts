import { definitionsSchema } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration';
import { WIRE_EVENT_TYPES } from '../../routes/events.js';
import { actorSchema } from './admin.js';
import { boolean, count, listOf, mapOf, referTo, strictObject, text, timestamp, version } from './common.js';

const nullableText: JsonSchema = { type: ['string', 'null'] };

const changeSet = {
  id: { ...nullableText, description: 'Names the change set; null if it changed nothing.' },
  at: timestamp,
  actor: text,
  reason: nullableText,
  events: listOf(referTo('Event')),
  revisions: {
    ...mapOf({ type: 'integer' }),
    description: 'The new revision of every changed document, by `kind/id`.',
  },
};

const difference = strictObject({
  path: { type: 'string', description: 'A JSON Pointer; strategies and variants by id and name.' },
  before: { description: 'null if the part did not exist.' },
  after: { description: 'null if the part does not exist any more.' },
});

const plannedEvent = strictObject({
  type: { type: 'string', enum: WIRE_EVENT_TYPES },
  project: nullableText,
  featureName: nullableText,
  environment: nullableText,
  data: {},
  preData: {},
});

const plannedDocument = strictObject({
  kind: text,
  id: text,
  before: { description: 'The stored state; null if there is none.' },
  after: { description: 'The planned state; null if the changes delete the document.' },
  events: listOf(plannedEvent),
});

const visibility: JsonSchema = { type: 'string', enum: ['absent', 'off', 'on'] };

const effect = strictObject(
  { project: text, flag: text, environment: text, before: visibility, after: visibility },
  {
    changed: {
      type: 'boolean',
      const: true,
      description: 'The flag is on before and after, and clients receive another definition.',
    },
  },
);

const effects = {
  effects: { ...listOf(effect), description: 'What clients would see. Empty if they would see no difference.' },
  hiddenEffects: { ...count, description: 'Effects on flags that the caller may not read.' },
};

const evaluation = strictObject({ enabled: boolean, variant: referTo('PreviewedVariant'), reason: text });

const bucket = strictObject({
  strategy: text,
  bucket: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: 100,
    description: 'In the rollout up to `rollout`; null if the context has no id to hash.',
  },
  rollout: { type: 'integer', minimum: 0, maximum: 100 },
});

const contextPreview = strictObject({
  before: evaluation,
  after: evaluation,
  buckets: { ...listOf(bucket), description: 'Of every hashing strategy, reached or not.' },
});

const counted = strictObject({ enabled: { ...count, description: 'For so many contexts the flag is on.' } });

const flagPreview = strictObject({
  project: text,
  flag: text,
  before: counted,
  after: counted,
  contexts: { ...listOf(contextPreview), description: 'In the order of the request.' },
});

const { $schema: _$schema, ...openDefinitions } = definitionsSchema();

export const changeSchemas = {
  ChangeSet: strictObject(changeSet, { user: actorSchema }),

  History: strictObject(
    {
      version,
      changes: listOf(
        strictObject(
          { ...changeSet, differences: listOf(strictObject({ kind: text, id: text, parts: listOf(difference) })) },
          { user: actorSchema },
        ),
      ),
    },
    { next: { type: 'string', description: '`after` of the next page; absent on the last one.' } },
  ),

  Plan: strictObject({
    documents: listOf(plannedDocument),
    ...effects,
  }),

  Definitions: openDefinitions,

  ImportResult: strictObject(
    {
      dryRun: boolean,
      changeSets: listOf(strictObject({ id: text, at: timestamp, documents: listOf(text) })),
      differences: listOf(strictObject({ kind: text, id: text, parts: listOf(difference) })),
    },
    {
      effects: { ...effects.effects, description: 'As in a plan. Only of a dry run.' },
      hiddenEffects: effects.hiddenEffects,
    },
  ),

  Preview: strictObject({ flags: listOf(flagPreview) }),

  PreviewedVariant: strictObject(
    { name: text, enabled: boolean, feature_enabled: boolean, featureEnabled: boolean },
    { payload: referTo('Payload') },
  ),
};

const AT = '2026-01-02T10:00:00.000Z';
const CHANGE_SET = '3f0c9e0e-5a53-4d0f-9d0e-5c1c8f2a7b11';
const STRATEGY = '0b2e7c8e-6f5c-4a4a-9d3a-1f5a3c1b9e10';

const exampleEvent = {
  type: 'feature-environment-enabled',
  project: 'default',
  featureName: 'checkout',
  environment: 'production',
  data: { enabled: true },
  preData: { enabled: false },
};

const exampleSet = {
  id: CHANGE_SET,
  at: AT,
  actor: 'ada@example.org',
  reason: 'Launch',
  events: [
    {
      id: 12,
      createdBy: 'ada@example.org',
      createdByTokenId: null,
      createdByTokenType: null,
      createdAt: AT,
      ...exampleEvent,
      changeSet: CHANGE_SET,
      reason: 'Launch',
    },
  ],
  revisions: { 'flag/checkout': 7 },
};

function withoutVariant(isOn: boolean) {
  return { name: 'disabled', enabled: false, feature_enabled: isOn, featureEnabled: isOn };
}

/** Examples of replies about change sets. */
export const CHANGE_EXAMPLES = {
  ChangeSet: exampleSet,
  History: {
    version: 1,
    changes: [
      {
        ...exampleSet,
        differences: [
          {
            kind: 'flag',
            id: 'checkout',
            parts: [{ path: '/environments/production/enabled', before: false, after: true }],
          },
        ],
      },
    ],
  },
  Plan: {
    documents: [
      {
        kind: 'flag',
        id: 'checkout',
        before: { name: 'checkout', project: 'default' },
        after: { name: 'checkout', project: 'default' },
        events: [exampleEvent],
      },
    ],
    effects: [{ project: 'default', flag: 'checkout', environment: 'production', before: 'off', after: 'on' }],
    hiddenEffects: 0,
  },
  Definitions: {
    version: 1,
    projects: [{ id: 'default', name: 'Default', description: '', createdAt: AT, members: [] }],
    segments: [],
    flags: [
      {
        name: 'checkout',
        project: 'default',
        type: 'release',
        description: 'The new checkout',
        environments: { production: { enabled: true, strategies: [{ name: 'default' }] } },
      },
    ],
  },
  ImportResult: {
    dryRun: false,
    changeSets: [{ id: CHANGE_SET, at: AT, documents: ['flag/checkout'] }],
    differences: [
      {
        kind: 'flag',
        id: 'checkout',
        parts: [{ path: '/environments/production/enabled', before: false, after: true }],
      },
    ],
  },
  Preview: {
    flags: [
      {
        project: 'default',
        flag: 'checkout',
        before: { enabled: 0 },
        after: { enabled: 1 },
        contexts: [
          {
            before: { enabled: false, variant: withoutVariant(false), reason: 'no_strategy_holds' },
            after: { enabled: true, variant: withoutVariant(true), reason: 'strategy' },
            buckets: [{ strategy: STRATEGY, bucket: 12, rollout: 25 }],
          },
        ],
      },
    ],
  },
};
