import type { DomainEvent } from '../events/event.types.js';
import { type Aggregate, type Documents, nameOf, type Versioned } from '../storage/documents.js';
import type {
  DocumentDeletion,
  DocumentKey,
  DocumentPut,
  DocumentTouch,
  DocumentWrite,
  FlagsStorage,
  ListedDocument,
  ListQuery,
} from '../storage/port.js';

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
  pending: PendingWrite | undefined;
}

export interface PendingWrite {
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

export interface PendingEntry extends Entry {
  pending: PendingWrite;
}

/** Whether a document must be written: not if the set created and removed it again without events. */
export function isWritten({ found, pending }: PendingEntry): boolean {
  return pending.state !== undefined || found !== undefined || pending.events.length > 0;
}

export function currentOf({ found, pending }: Entry): Versioned<unknown> | undefined {
  if (!pending) return found;
  return pending.state === undefined ? undefined : { state: pending.state, revision: pending.revision };
}

export function toListed(
  { key, pending: { documents, state, revision } }: PendingEntry,
  query: ListQuery,
): ListedDocument[] {
  if (state === undefined) return [];
  const parent = documents.parentOf(state);
  if (query.parent !== undefined && query.parent !== parent) return [];
  const content = query.part === 'body' ? state : (documents.summarize?.(state) ?? null);
  return [{ key, parent, revision, content }];
}

export function toChange({ key, found, pending }: PendingEntry): DocumentChange {
  const { documents, state, events, path, isChanged } = pending;
  const expected = found?.revision ?? 0;
  if (!isChanged) return { write: { key, expected, touch: true }, events, found, next: state, path };
  if (state === undefined) return { write: { key, expected, deleted: true }, events, found, next: undefined, path };
  const summary = documents.summarize?.(state) ?? null;
  const parent = documents.parentOf(state);
  const write = { key, expected, parent, body: state, text: JSON.stringify(state), summary };
  return { write, events, found, next: state, path };
}

/**
 * A checkpoint is the state of a document at a revision. It bounds the number of events that `stateAt` reads. A commit
 * stores a checkpoint at every 200th revision, and if it appends many or large events to the document.
 */
const CHECKPOINT = { kind: 'checkpoint', revisions: 200, events: 10, bytes: 262_144 } as const;

/** Checkpoints are listed newest first, because their ids count down. */
function checkpointKey(document: DocumentKey, revision: number): DocumentKey {
  const rank = `${Number.MAX_SAFE_INTEGER - revision}`.padStart(16, '0');
  return { kind: CHECKPOINT.kind, id: `${nameOf(document)} ${rank}` };
}

/** Reads the newest checkpoint of a document before a revision. */
export async function readCheckpoint(
  storage: Pick<FlagsStorage, 'list'>,
  document: DocumentKey,
  before: number,
): Promise<Versioned<unknown> | undefined> {
  const { kind, id: after } = checkpointKey(document, before);
  const [found] = await storage.list({ kind, parent: nameOf(document), part: 'body', after, limit: 1 });
  return found && { state: found.content, revision: Number.MAX_SAFE_INTEGER - Number(found.key.id.slice(-16)) };
}

/**
 * Returns the writes of a commit: those of the changes, and their checkpoints.
 *
 * @param hasHistory whether history shows the document
 */
export function withCheckpoints(
  changes: readonly DocumentChange[],
  hasHistory: (key: DocumentKey) => boolean,
): readonly DocumentWrite[] {
  const writes: DocumentWrite[] = changes.map(({ write }) => write);
  for (const { write, next: body, events } of changes) {
    const revision = write.expected + 1;
    // A created document may continue older revisions. Its creation event holds its state.
    if (body === undefined || write.expected === 0) continue;
    const isDue = revision % CHECKPOINT.revisions === 0 || events.length >= CHECKPOINT.events;
    const text = 'text' in write ? write.text : '';
    if (!isDue && !hasLargeEvents(events, text.length)) continue;
    if (!hasHistory(write.key)) continue;
    const parent = nameOf(write.key);
    const key = checkpointKey(write.key, revision);
    writes.push({ key, expected: 0, parent, body, text: text || JSON.stringify(body), summary: null });
  }
  return writes;
}

/** Measures events of large documents only: the events of a small document are small. */
function hasLargeEvents(events: readonly DomainEvent[], documentLength: number): boolean {
  if (events.length * documentLength * 2 < CHECKPOINT.bytes) return false;
  const bytes = events.reduce((sum, { data, before }) => sum + Buffer.byteLength(JSON.stringify([data, before])), 0);
  return bytes >= CHECKPOINT.bytes;
}
