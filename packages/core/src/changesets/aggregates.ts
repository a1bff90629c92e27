import type { DomainEvent } from '../events/event.types.js';
import { flagDocuments } from '../flags/flag-documents.js';
import { projectDocuments } from '../projects/project.js';
import { segmentDocuments } from '../segments/segment.js';
import type { DocumentKey, StoredEvent } from '../storage/port.js';
import type { Aggregate } from './documents.js';

type AnyAggregate = Aggregate<unknown, DomainEvent>;

/** The kinds of documents that history shows and undo restores. A deleted token must not come back. */
const AGGREGATES: ReadonlyMap<string, AnyAggregate> = new Map(
  [flagDocuments, projectDocuments, segmentDocuments].map((one) => [one.kind, one as unknown as AnyAggregate]),
);

export function hasHistory({ kind }: Pick<DocumentKey, 'kind'>): boolean {
  return AGGREGATES.has(kind);
}

/** Applies events to the state of a document. */
export function foldEvents(kind: string, state: unknown, events: readonly Pick<StoredEvent, 'type'>[]): unknown {
  const aggregate = AGGREGATES.get(kind);
  return events.reduce<unknown>((folded, event) => aggregate?.evolve(folded, toDomainEvent(event)), state);
}

/**
 * Gives flags of release 0.1 the members that their events lack. The cast is safe, because decisions have made every
 * stored event. Stored events have `environment: null`.
 */
function toDomainEvent(stored: Pick<StoredEvent, 'type'>): DomainEvent {
  const event = stored as unknown as DomainEvent;
  if (event.type !== 'flag-created' || Object.hasOwn(Object(event.data), 'labels')) return event;
  return { ...event, data: { labels: [], owner: null, ...Object(event.data) } };
}
