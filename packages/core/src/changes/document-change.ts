import type { DomainEvent } from '../events/event.types.js';
import type { DocumentDeletion, DocumentKey, DocumentPut, DocumentTouch } from '../storage/port.js';
import type { Aggregate, Documents, Versioned } from './aggregate.js';

/** The write and the events of one document in a commit. */
export interface DocumentChange<State = unknown> {
  /** Includes the JSON text, because the size is checked before the commit. */
  readonly write: DocumentDeletion | DocumentTouch | (DocumentPut & { readonly text: string });
  readonly events: readonly DomainEvent[];
  readonly project: string | null;
  /** The document before the change, if the new state shares parts with it. */
  readonly found?: Versioned<State> | undefined;
  /** The new state; undefined for a deletion. */
  readonly next: State | undefined;
}

/**
 * Applies events to a document. Returns undefined without events, because nothing changes.
 *
 * @param found the current document; undefined if there is none
 */
export function changeDocument<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  { id, found, events }: { id: string; found: Versioned<State> | undefined; events: readonly Event[] },
): DocumentChange<State> | undefined {
  if (events.length === 0) return undefined;
  const next = events.reduce(aggregate.evolve, found?.state);
  const known = next ?? found?.state;
  const project = known === undefined ? null : aggregate.projectOf(known);
  return {
    write: toWrite(aggregate, { key: { kind: aggregate.kind, id }, expected: found?.revision ?? 0, next }),
    events,
    project,
    found,
    next,
  };
}

function toWrite<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  { key, expected, next }: { key: DocumentKey; expected: number; next: State | undefined },
): DocumentChange['write'] {
  if (next === undefined) return { key, expected, deleted: true };
  const summary = aggregate.summarize(next);
  return { key, expected, parent: aggregate.parentOf(next), body: next, text: JSON.stringify(next), summary };
}

/** Writes an index document: it has no events, and indexes or guards other documents. */
export function writeIndex<State>(
  documents: Documents<State>,
  { id, found, next }: { id: string; found: Versioned<State> | undefined; next: State },
): DocumentChange<State> {
  const key = { kind: documents.kind, id };
  const expected = found?.revision ?? 0;
  const parent = documents.parentOf(next);
  const write = { key, expected, parent, body: next, text: JSON.stringify(next), summary: null };
  return { write, events: [], project: null, found, next };
}

/** Deletes an index document. */
export function removeIndex<State>(
  { kind }: Documents<State>,
  { id, found }: { id: string; found: Versioned<State> },
): DocumentChange<State> {
  const write = { key: { kind, id }, expected: found.revision, deleted: true } as const;
  return { write, events: [], project: null, next: undefined };
}

/**
 * Gives a document a new revision. Concurrent changes that have read the document then conflict, so that they decide
 * again.
 */
export function touch<State>(
  { kind }: Documents<State>,
  { id, found }: { id: string; found: Versioned<State> },
): DocumentChange<State> {
  const write = { key: { kind, id }, expected: found.revision, touch: true } as const;
  return { write, events: [], project: null, found, next: found.state };
}
