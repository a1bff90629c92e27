import { groupBy } from '../../base/collections.js';
import { nameOf } from '../../storage/document-reader.js';
import type { EventType } from '../../words/event-names.js';
import type { Registry } from '../registry.js';
import type { DecidedSet, SharedEngine } from './change-engine.js';
import type { PlannedDocument, PlannedEvent, PlannedSet } from './change-set.types.js';
import type { RecordedEvent } from './unit-of-work.js';

/** Converts a decided set for `authorize`. */
export async function toPlannedSet(
  { registry, rules }: Pick<SharedEngine, 'registry' | 'rules'>,
  decided: DecidedSet,
): Promise<PlannedSet> {
  const documents = toPlannedDocuments(registry, decided);
  return { documents, segmentUses: await rules.findSegmentUses(decided, documents) };
}

/** Returns the documents that have events, with their states before and after a decided set. */
export function toPlannedDocuments(registry: Registry, { unit, writes }: DecidedSet): readonly PlannedDocument[] {
  const written = new Map(writes.map((change) => [nameOf(change.write.key), change]));
  // Sorts documents by their first event. Writes may have another order: a referenced document may be written first.
  return [...groupBy(unit.events, ({ subject }) => nameOf(subject))].flatMap(([name, own]) => {
    const change = written.get(name);
    if (!change) return [];
    const { write, found, next } = change;
    const { key } = write;
    const { show = (state: unknown) => state } = registry.kindOf(key.kind) ?? {};
    const states = { before: show(found?.state ?? null), after: show(next ?? null) };
    return [{ ...key, ...states, events: own.map((event) => toPlannedEvent(registry, event)) }];
  });
}

export function toPlannedEvent(
  { describeEvent, kindOf }: Registry,
  { subject, project, event, op }: RecordedEvent,
): PlannedEvent {
  const { type, environment = null, data, before } = event;
  const { show = (state: unknown) => state } = describeEvent(type);
  const flag = kindOf(subject.kind)?.isFlag ? subject.id : null;
  const planned = { type: type as EventType, project, flag, environment, data: show(data), before: show(before) };
  return op === undefined ? planned : { ...planned, op };
}
