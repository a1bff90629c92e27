import type { DomainEvent } from '../events/event.types.js';
import type { DocumentDeletion, DocumentKey, DocumentPut } from '../storage/port.js';
import type { Aggregate, Documents, Versioned } from './aggregate.js';

/** One document's part in a commit: the new state, folded from the events that lead to it. */
export interface DocumentChange<State = unknown> {
  /** With the text of the document, whose size is checked before the commit. */
  readonly write: DocumentDeletion | (DocumentPut & { readonly text: string });
  readonly events: readonly DomainEvent[];
  readonly project: string | null;
  /** The document as it was read, where the new state has parts of it. */
  readonly found?: Versioned<State> | undefined;
  /** Undefined when the document is deleted. */
  readonly next: State | undefined;
}

/**
 * Folds a decision's events into the document they are about. Undefined when there are none: nothing is written then.
 *
 * @param found the document as it was read; undefined when there was none
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

/** Writes a document that events do not make: one that is derived from others and only guards or indexes them. */
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

/** Removes such a document. */
export function removeIndex<State>(
  { kind }: Documents<State>,
  { id, found }: { id: string; found: Versioned<State> },
): DocumentChange<State> {
  const write = { key: { kind, id }, expected: found.revision, deleted: true } as const;
  return { write, events: [], project: null, next: undefined };
}

/**
 * Writes a document as it is. Its revision moves, so that a crossing change, which has decided on what stood around this
 * document before, loses its race and decides again.
 */
export function touch<State, Event extends DomainEvent>(
  aggregate: Aggregate<State, Event>,
  { id, found }: { id: string; found: Versioned<State> },
): DocumentChange<State> {
  const { state, revision } = found;
  const write = toWrite(aggregate, { key: { kind: aggregate.kind, id }, expected: revision, next: state });
  return { write, events: [], project: null, found, next: state };
}
