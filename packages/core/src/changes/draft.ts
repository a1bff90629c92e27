import type { DomainEvent } from '../events/event.types.js';
import { hasHistory } from '../history/change-set-events.js';
import type {
  DocumentDeletion,
  DocumentKey,
  DocumentPut,
  DocumentTouch,
  DocumentWrite,
  ListedDocument,
  ListQuery,
  StoredDocument,
} from '../storage/port.js';
import type { Aggregate, Documents, Versioned } from './documents.js';

/** The write of one document in a commit. It folds all changes that a set makes to the document. */
export interface DocumentChange {
  /** Includes the JSON text, because the size is checked before the commit. */
  readonly write: DocumentDeletion | DocumentTouch | (DocumentPut & { readonly text: string });
  /** Empty for an index document, and for a document that is written to make concurrent changes conflict. */
  readonly events: readonly DomainEvent[];
  /** The stored document, if there is one. */
  readonly found: Versioned<unknown> | undefined;
  /** The new state; undefined for a deletion. */
  readonly next: unknown;
  /** The place in the caller's input of the last change that has written the document. */
  readonly path: string | undefined;
}

/** A document that the set has read or written. */
export interface Entry {
  readonly key: DocumentKey;
  /** The read in progress. */
  loading: Promise<Versioned<unknown> | undefined> | undefined;
  isLoaded: boolean;
  /** The stored document. */
  found: Versioned<unknown> | undefined;
  /** Absent until the set writes the document. */
  draft: Draft | undefined;
}

export interface Draft {
  readonly documents: Documents<unknown> & Partial<Pick<Aggregate<unknown, DomainEvent>, 'summarize'>>;
  readonly events: DomainEvent[];
  /** The stored revision; after the commit the new one. */
  revision: number;
  /** Undefined after a deletion. */
  state: unknown;
  path: string | undefined;
  /** False for a document that only gets a new revision. */
  isChanged: boolean;
}

export interface DraftedEntry extends Entry {
  draft: Draft;
}

/** A document that the set has created and removed again needs no write, unless it has events. */
export function isWritten({ found, draft }: DraftedEntry): boolean {
  return draft.state !== undefined || found !== undefined || draft.events.length > 0;
}

export function toVersioned(document: StoredDocument | undefined): Versioned<unknown> | undefined {
  return document && { state: document.body, revision: document.revision };
}

export function currentOf({ found, draft }: Entry): Versioned<unknown> | undefined {
  if (!draft) return found;
  return draft.state === undefined ? undefined : { state: draft.state, revision: draft.revision };
}

export function toListed(
  { key, draft: { documents, state, revision } }: DraftedEntry,
  query: ListQuery,
): ListedDocument[] {
  if (state === undefined) return [];
  const parent = documents.parentOf(state);
  if (query.parent !== undefined && query.parent !== parent) return [];
  const content = query.part === 'body' ? state : (documents.summarize?.(state) ?? null);
  return [{ key, parent, revision, content }];
}

export function toChange({ key, found, draft }: DraftedEntry): DocumentChange {
  const { documents, state, events, path, isChanged } = draft;
  const expected = found?.revision ?? 0;
  if (!isChanged) return { write: { key, expected, touch: true }, events, found, next: state, path };
  if (state === undefined) return { write: { key, expected, deleted: true }, events, found, next: undefined, path };
  const summary = documents.summarize?.(state) ?? null;
  const parent = documents.parentOf(state);
  const write = { key, expected, parent, body: state, text: JSON.stringify(state), summary };
  return { write, events, found, next: state, path };
}

/** The number of revisions between two checkpoints of a document. */
export const CHECKPOINT_INTERVAL = 200;

/** The kind of a checkpoint: the state of a document at a revision. It bounds the events that `stateAt` reads. */
const CHECKPOINT = 'checkpoint';

export function checkpointKey({ kind, id }: DocumentKey, revision: number): DocumentKey {
  return { kind: CHECKPOINT, id: `${kind} ${id} ${revision}` };
}

/** Returns the writes of a commit: those of the changes, and checkpoints beside them. */
export function withCheckpoints(changes: readonly DocumentChange[]): readonly DocumentWrite[] {
  const writes: DocumentWrite[] = changes.map(({ write }) => write);
  for (const { write, next: body } of changes) {
    const revision = write.expected + 1;
    // A created document may continue older revisions. Its creation event holds its state.
    if (body === undefined || write.expected === 0 || revision % CHECKPOINT_INTERVAL !== 0) continue;
    if (!hasHistory(write.key)) continue;
    const text = 'text' in write ? write.text : JSON.stringify(body);
    writes.push({ key: checkpointKey(write.key, revision), expected: 0, parent: null, body, text, summary: null });
  }
  return writes;
}
