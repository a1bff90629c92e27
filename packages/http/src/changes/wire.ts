import type {
  ChangeSet,
  Definitions,
  FlagPreview,
  HistoryEntry,
  ImportResult,
  Plan,
  PlannedDocument,
  PlannedEvent,
  Preview,
} from '@flags/core';
import { type JsonChunks, jsonArray, jsonList, jsonObject } from '../json-chunks.js';
import { eventToWire, eventTypeToWire, toWireState } from '../routes/events.js';
import { evaluatedVariantToWire } from '../routes/frontend.js';
import type { ShownUser } from '../users.js';

/** Generates the JSON of a change set in pieces: its events may have 8 MiB. */
export function changeSetToWire({ events, ...changeSet }: ChangeSet, { user }: { user?: ShownUser } = {}): JsonChunks {
  const { id, at, actor, reason, revisions } = changeSet;
  return jsonObject({ id, at, actor, user, reason, events: jsonArray(events, eventToWire), revisions });
}

export function historyEntryToWire(entry: HistoryEntry) {
  const { id, at, actor, reason, events, revisions, differences } = entry;
  return { id, at, actor, reason, events: events.map(eventToWire), revisions, differences };
}

export function planToWire({ documents }: Plan): JsonChunks {
  return jsonObject({ documents: jsonArray(documents, plannedDocumentToWire) });
}

function plannedDocumentToWire({ kind, id, before, after, events }: PlannedDocument) {
  return { kind, id, before, after, events: events.map(plannedEventToWire) };
}

function plannedEventToWire({ type, project, flag, environment, data, before }: PlannedEvent) {
  const states = toWireState({ type, data, before });
  return { type: eventTypeToWire(type), project, featureName: flag, environment, ...states };
}

/** Generates the JSON of definitions in pieces: a store may have many flags of 1 MiB. */
export function definitionsToWire({ version, projects = [], segments = [], flags = [] }: Definitions): JsonChunks {
  const asStored = (item: unknown) => item;
  return jsonObject({
    version,
    projects: jsonArray(projects, asStored),
    segments: jsonArray(segments, asStored),
    flags: jsonArray(flags, asStored),
  });
}

export function importResultToWire({ dryRun, changeSets, differences }: ImportResult): JsonChunks {
  return jsonObject({ dryRun, changeSets, differences: jsonArray(differences, (difference) => difference) });
}

/** The maximum length of all payloads in one preview, in characters. Variants beyond it come without their payload. */
const MAX_PAYLOADS_LENGTH = 1024 * 1024;

export function previewToWire({ flags }: Preview): JsonChunks {
  const toVariant = createVariantTruncator();
  return jsonObject({ flags: jsonList(flags.map((flag) => flagPreviewToWire(flag, toVariant))) });
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
  return jsonObject({ project, flag, before, after, contexts: previews });
}

function createVariantTruncator() {
  let room = MAX_PAYLOADS_LENGTH;
  return (variant: Evaluation['variant']) => {
    const { payload, ...shown } = evaluatedVariantToWire(variant);
    room -= payload?.value.length ?? 0;
    return payload && room >= 0 ? { ...shown, payload } : shown;
  };
}
