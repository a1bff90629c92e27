import { assertText } from '../base/validator.js';
import type { DocumentKey } from './commit-port.js';
import type { FlagsStorage, ListedDocument, ListQuery, StoredDocument } from './port.js';

/** A kind of document: the part that reads need. */
export interface Documents<State> {
  readonly kind: string;
  /** Returns the parent that the storage lists the document under. */
  readonly parentOf: (state: State) => string | null;
}

/** A kind of document with events. */
export interface RecordedDocuments<State> extends Documents<State> {
  /** Returns the project of the document's events. */
  readonly projectOf: (state: State) => string | null;
  /** Returns the stored summary, which lists read instead of the document. */
  readonly summarize: (state: State) => unknown;
}

/** A kind of document that events change: they produce its state. */
export interface Aggregate<State, Event> extends RecordedDocuments<State> {
  /** Returns the state after an event. The state is undefined before the first event and after a deletion. */
  readonly evolve: (state: State | undefined, event: Event) => State | undefined;
}

/** A new revision of a document. */
interface DocumentUpdate {
  readonly revision: number;
  /** Undefined after a deletion. */
  readonly state: unknown;
  /** The document that the change was decided on. */
  readonly before?: Versioned<unknown> | undefined;
}

/** An update and the document that it belongs to. */
export interface KeyedUpdate {
  readonly key: DocumentKey;
  readonly update: DocumentUpdate;
}

/** A document's state and revision. */
export interface Versioned<State> {
  readonly state: State;
  readonly revision: number;
}

/** Resolves to a document, or to undefined if there is none. */
export type Read = <State>(documents: Documents<State>, id: string) => Promise<Versioned<State> | undefined>;

/** Reads documents: stored ones, or, within a set, the results of its earlier changes. */
export interface DocumentReader {
  readonly read: Read;
  readonly list: (query: ListQuery) => Promise<ListedDocument[]>;
}

/** Creates a read of a storage. Reads reject with `invalid_input` for an id that is not a string. */
export function createRead(storage: Pick<FlagsStorage, 'get'>): Read {
  return async <State>({ kind }: Documents<State>, id: string) => {
    assertText(kind, id);
    const found = await storage.get({ kind, id });
    return found && { state: found.body as State, revision: found.revision };
  };
}

/** Creates a reader of the stored documents. */
export function createReader(storage: Pick<FlagsStorage, 'get' | 'list'>): DocumentReader {
  return { read: createRead(storage), list: async (query) => storage.list(query) };
}

/** Returns a unique text for a key. It is unique because kinds contain no spaces. */
export function nameOf({ kind, id }: DocumentKey): string {
  return `${kind} ${id}`;
}

export function toVersioned(document: StoredDocument | undefined): Versioned<unknown> | undefined {
  return document && { state: document.body, revision: document.revision };
}
