import type { DomainEvent } from '../base/domain-event.js';
import { flagDocuments } from '../flags/flag.js';
import { projectDocuments } from '../projects/project.js';
import { segmentDocuments } from '../segments/segment.js';
import type { Aggregate } from '../storage/documents.js';
import type { DocumentKey, StoredEvent } from '../storage/port.js';

type AnyAggregate = Aggregate<unknown, DomainEvent>;

/**
 * The kinds of documents that history shows and undo restores. Tokens are missing: undo must not restore a deleted one.
 */
const AGGREGATES: ReadonlyMap<string, AnyAggregate> = new Map(
  [flagDocuments, projectDocuments, segmentDocuments].map((one) => [one.kind, one as unknown as AnyAggregate]),
);

export function hasHistory({ kind }: Pick<DocumentKey, 'kind'>): boolean {
  return AGGREGATES.has(kind);
}

/** Applies events to the state of a document. The cast is safe: every stored event is the result of a decision. */
export function foldEvents(kind: string, state: unknown, events: readonly Pick<StoredEvent, 'type'>[]): unknown {
  const aggregate = AGGREGATES.get(kind);
  return events.reduce<unknown>((folded, event) => aggregate?.evolve(folded, event as DomainEvent), state);
}
