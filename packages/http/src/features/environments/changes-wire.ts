import type {
  ChangePlan,
  ChangePreview,
  ChangeSet,
  Definitions,
  FlagEffect,
  HistoryEntry,
  ImportResult,
  PlannedDocument,
  PlannedEvent,
} from '@flags/core';
import {
  CHANGE_OPERATIONS,
  eventToWire,
  eventTypeToWire,
  toWireState,
  type Validator,
} from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { createValidator } from '@flags/core/integration/shared';
import type { FlagPreview } from '@flags/core/types';
import type { ShownUser } from '../../auth/users.js';
import * as compiled from '../../compiled-schemas.js';
import { actorSchema, eventSchema, eventTypeSchema } from '../../events/event-schema.js';
import { jsonArray } from '../../messages/json.js';
import {
  boolean,
  count,
  example,
  listOf,
  mapOf,
  nullableText,
  objectComponent,
  strictObject,
  text,
  timestamp,
  variantName,
  version,
} from '../../messages/schema.js';
import { differenceToWire, statesToWire } from '../flags/rollout-states.js';
import { payloadSchema } from '../flags/wire.js';
import { contextSchema, evaluatedVariantToWire, type WireContext } from './wire.js';

const previewedVariantSchema = objectComponent(
  'PreviewedVariant',
  { name: variantName, enabled: boolean, feature_enabled: boolean, featureEnabled: boolean },
  { payload: payloadSchema },
);

const changeSet = {
  id: {
    ...example('3f0c9e0e-5a53-4d0f-9d0e-5c1c8f2a7b11', nullableText),
    description: 'The id of the change set; null if nothing has changed.',
  },
  at: timestamp,
  actor: text,
  reason: nullableText,
  events: listOf(eventSchema),
  revisions: {
    ...example({ 'flag/checkout': 7 }, mapOf({ type: 'integer' })),
    description: 'The new revision of every changed document, by `kind/id`.',
  },
};

const difference = strictObject({
  path: { type: 'string', description: 'A JSON Pointer, with ids for strategies and names for variants.' },
  before: { ...example(false, {}), description: 'The value before the change; null if it did not exist.' },
  after: { ...example(true, {}), description: 'The value after the change; null if it no longer exists.' },
});

const plannedEvent = strictObject({
  type: eventTypeSchema,
  project: nullableText,
  featureName: nullableText,
  environment: nullableText,
  data: example({ enabled: true }, {}),
  preData: example({ enabled: false }, {}),
});

const plannedDocument = strictObject({
  kind: text,
  id: example('checkout'),
  before: { ...example({ name: 'checkout' }, {}), description: 'The stored state; null if there is none.' },
  after: {
    ...example({ name: 'checkout' }, {}),
    description: 'The planned state; null if the changes delete the document.',
  },
  events: listOf(plannedEvent),
});

const visibility: JsonSchema = { type: 'string', enum: ['absent', 'off', 'on'] };

const effect = strictObject(
  { project: text, flag: text, environment: text, before: visibility, after: visibility },
  {
    changed: {
      type: 'boolean',
      const: true,
      description: 'Clients receive another definition of the flag, which is on before and after.',
    },
  },
);

const effects = {
  effects: { ...listOf(effect), description: 'The differences that clients would see. Empty if there are none.' },
  hiddenEffects: { ...count, description: 'Effects on flags that the caller may not read.' },
};

const evaluation = strictObject({ enabled: boolean, variant: previewedVariantSchema, reason: example('strategy') });

const bucket = strictObject({
  strategy: text,
  bucket: {
    type: ['integer', 'null'],
    minimum: 1,
    maximum: 100,
    description: 'The bucket of the context, in the rollout up to `rollout`; null if the context has no id to hash.',
  },
  rollout: { type: 'integer', minimum: 0, maximum: 100 },
});

const off = {
  enabled: false,
  variant: { name: 'disabled', enabled: false, feature_enabled: false, featureEnabled: false },
};

const contextPreview = strictObject({
  before: example({ ...off, reason: 'no_strategy_holds' }, evaluation),
  after: evaluation,
  buckets: { ...listOf(bucket), description: 'The buckets for all strategies that hash, evaluated or not.' },
});

const counted = strictObject({ enabled: { ...count, description: 'Number of contexts for which the flag is on.' } });

const flagPreview = strictObject({
  project: text,
  flag: text,
  before: example({ enabled: 0 }, counted),
  after: example({ enabled: 1 }, counted),
  contexts: { ...listOf(contextPreview), description: 'The results in the order of the contexts in the request.' },
});

const documentDifferences = listOf(strictObject({ kind: text, id: example('checkout'), parts: listOf(difference) }));

export const changeSetSchema = objectComponent('ChangeSet', changeSet, { user: actorSchema });

/** A change set on its own, as in a history. */
export const describedChangeSetSchema = objectComponent(
  'DescribedChangeSet',
  { ...changeSet, differences: documentDifferences },
  { user: actorSchema },
);

export const historySchema = objectComponent(
  'History',
  {
    version,
    changes: listOf(describedChangeSetSchema),
  },
  { next: { type: 'string', description: '`after` of the next page; absent on the last one.' } },
);

export const approvalSchema: JsonSchema = {
  ...example(null, {
    anyOf: [strictObject({ required: count, environments: listOf(text) }), { type: 'null' }],
  }),
  description: 'The approval that the changes need: how many people, and in which environments. null: none.',
};

export const planSchema = objectComponent('Plan', {
  documents: listOf(plannedDocument),
  ...effects,
  approval: approvalSchema,
});

export const previewSchema = objectComponent('Preview', { flags: listOf(flagPreview) });

export const importResultSchema = objectComponent(
  'ImportResult',
  {
    dryRun: boolean,
    changeSet: {
      anyOf: [strictObject({ id: text, at: timestamp }), { type: 'null' }],
      description: 'null if nothing has changed, and in a dry run.',
    },
    differences: documentDifferences,
    rollouts: {
      ...listOf(strictObject({ project: text, flag: text, environment: text, strategy: text })),
      description: 'Strategies that roll out, whose percentage the import left alone, and which the caller may read.',
    },
  },
  {
    effects: { ...effects.effects, description: 'The effects, as in a plan. Only for a dry run.' },
    hiddenEffects: effects.hiddenEffects,
    approval: { ...approvalSchema, description: 'The approval that the import needs. Only for a dry run.' },
  },
);

/** The environment and the contexts in the body of a preview. */
export interface WirePreview {
  readonly environment: string;
  readonly contexts: readonly WireContext[];
}

/** Documents a change. The engine validates it, because a reference and an input differ with the operation. */
export const changeSchema = {
  type: 'object',
  properties: {
    op: { type: 'string', enum: CHANGE_OPERATIONS as readonly string[] },
    ref: {
      type: 'object',
      properties: {
        project: { ...nullableText, description: 'Required. null: the instance, for a segment without a project.' },
        flag: text,
        environment: text,
        strategy: text,
        segment: { type: 'integer' },
      },
      description: 'The resource to change. Absent for `createProject` and `createSegment`.',
    },
    input: { description: 'The input of the operation; absent if it takes none.' },
    ifRevision: {
      anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'integer' } }],
      description: 'The required revision of the flag, project or segment, or a list of accepted ones.',
    },
  },
  required: ['op'],
} satisfies JsonSchema;

const changes: JsonSchema = {
  type: 'array',
  items: changeSchema,
  description: 'The changes in order, at most 500.',
};

export const reasonSchema: JsonSchema = {
  type: 'string',
  maxLength: 1000,
  description: 'The reason for the changes, shown in the history.',
};
const reason = reasonSchema;

/** The schemas of bodies, for documents. */
export const BODIES = {
  apply: {
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Makes the request safe to retry, like `Idempotency-Key`.' },
      reason,
      ifRevision: {
        type: 'object',
        additionalProperties: { type: 'integer' },
        description: 'Required revisions of documents by `kind/id`, whether or not the changes concern them.',
      },
      changes,
    },
    required: ['changes'],
  },
  plan: { type: 'object', properties: { changes }, required: ['changes'] },
  preview: {
    type: 'object',
    properties: {
      changes,
      environment: text,
      contexts: { type: 'array', maxItems: 1000, items: contextSchema },
    },
    required: ['changes', 'environment', 'contexts'],
  },
  undo: { type: 'object', properties: { reason } },
  previewUndo: {
    type: 'object',
    properties: { environment: text, contexts: { type: 'array', maxItems: 1000, items: contextSchema } },
    required: ['environment', 'contexts'],
  },
} satisfies Readonly<Record<string, JsonSchema>>;

/** The contexts have a wire form. The engine validates everything else. */
export const previewContexts: JsonSchema = {
  ...BODIES.preview,
  properties: { ...BODIES.preview.properties, changes: {} },
};

export const validatePreview: Validator<WirePreview> = createValidator(compiled.preview);

/** The events of a change set may have 8 MiB. */
export function changeSetToWire({ events, ...changeSet }: ChangeSet, { user }: { user?: ShownUser } = {}) {
  const { id, at, actor, reason, revisions } = changeSet;
  return { id, at, actor, user, reason, events: jsonArray(events, eventToWire), revisions };
}

export function historyEntryToWire({ events, differences, ...entry }: HistoryEntry) {
  return { ...entry, events: events.map(eventToWire), differences: differences.map(differenceToWire) };
}

/** The effects on flags that the caller may read, and the number of hidden ones. */
export interface VisibleEffects {
  readonly effects: readonly FlagEffect[];
  readonly hiddenEffects: number;
}

export function planToWire({ documents, effects, hiddenEffects, approval }: ChangePlan & VisibleEffects): object {
  return {
    documents: jsonArray(documents, plannedDocumentToWire),
    effects: jsonArray(effects),
    hiddenEffects,
    approval,
  };
}

function plannedDocumentToWire({ events, ...document }: PlannedDocument) {
  return { ...statesToWire(document), events: events.map(plannedEventToWire) };
}

function plannedEventToWire({ type, project, flag, environment, data, before }: PlannedEvent) {
  const states = toWireState({ type, data, before });
  return { type: eventTypeToWire(type), project, featureName: flag, environment, ...states };
}

/** A store may have many flags of 1 MiB. */
export function definitionsToWire({ version, projects = [], segments = [], flags = [] }: Definitions) {
  return {
    version,
    projects: jsonArray(projects),
    segments: jsonArray(segments),
    flags: jsonArray(flags),
  };
}

export function importResultToWire(
  { dryRun, changeSet, differences, rollouts, approval }: ImportResult,
  visible?: VisibleEffects,
): object {
  return {
    dryRun,
    changeSet,
    differences: jsonArray(differences, differenceToWire),
    rollouts: jsonArray(rollouts),
    ...(visible && { effects: jsonArray(visible.effects), hiddenEffects: visible.hiddenEffects, approval }),
  };
}

/** The maximum length of all payloads in one preview, in characters. Variants beyond it come without their payload. */
const MAX_PAYLOADS_LENGTH = 1024 * 1024;

export function previewToWire({ flags }: ChangePreview) {
  const toVariant = createVariantTruncator();
  return { flags: jsonArray(flags, (flag) => flagPreviewToWire(flag, toVariant)) };
}

type ToVariant = ReturnType<typeof createVariantTruncator>;
type Evaluation = FlagPreview['contexts'][number]['before'];

function flagPreviewToWire({ project, flag, before, after, contexts }: FlagPreview, toVariant: ToVariant) {
  const toWire = ({ enabled, variant, reason }: Evaluation) => ({ enabled, variant: toVariant(variant), reason });
  const previews = jsonArray(contexts, (context) => ({
    before: toWire(context.before),
    after: toWire(context.after),
    buckets: context.buckets,
  }));
  return { project, flag, before, after, contexts: previews };
}

function createVariantTruncator() {
  let room = MAX_PAYLOADS_LENGTH;
  return (variant: Evaluation['variant']) => {
    const { payload, ...shown } = evaluatedVariantToWire(variant);
    room -= payload?.value.length ?? 0;
    return payload && room >= 0 ? { ...shown, payload } : shown;
  };
}
