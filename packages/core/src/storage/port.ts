import type { Awaitable } from '../common.types.js';
import type { MetricsStorage } from './metrics-port.js';

/**
 * The storage port: what the engine needs of a place to keep its state. Write one against these five methods and prove
 * it with `storageConformance` of `@flags/core/testing`.
 *
 * State is whole JSON *documents*, each with a *revision*. All atomicity lies in the data that {@link Storage.commit}
 * receives; there is no transaction to hold and no callback to run.
 */
export interface Storage {
  /**
   * The document, or undefined when there is none or it was deleted. The caller may keep and change what it gets: a
   * copy, never a shared object. Sees every commit that was acknowledged before the call.
   */
  get(key: DocumentKey): Awaitable<StoredDocument | undefined>;

  /**
   * Documents of one kind, of one parent or of all, by id in code-point order, as one consistent view. Deleted documents
   * are not listed. With `part: 'summary'` no body is read or parsed. A page costs what it holds, not what the list holds.
   */
  list(query: ListQuery): Awaitable<ListedDocument[]>;

  /**
   * Makes all of a commit happen, or none of it. Of two commits that expect the same revision of the same document
   * exactly one succeeds, whatever process they come from; the other learns which document had moved. A lost race is a
   * returned value; faults (disk, network) are thrown: as a FlagsError `storage_busy` or `storage_unavailable` where nothing
   * has changed, `outcome_unknown` where that cannot be told. Nothing is acknowledged before it is durable.
   */
  commit(commit: Commit): Awaitable<CommitResult>;

  /**
   * Events, oldest first for a feed or newest first for a log. A reader that always passes the position of the last
   * event it saw as `after` misses none and sees none twice, while any number of writers commit.
   */
  events(query: StoredEventQuery): Awaitable<EventPage>;

  /** Gives back what the storage opened itself. Calling it again does nothing. */
  close(): Awaitable<void>;

  /**
   * Calls `onChange` when another process may have committed, or when it may have gone unnoticed that one has. A hint, by
   * which changes are found sooner: nothing relies on it, it may come late, too often or never. Where there is one, a change
   * is first decided on the document as the process knows it, without reading it. Calls must not overlap with those of
   * `close`: after it there are none.
   *
   * @returns a function that ends it; it may be called again
   */
  watch?(onChange: () => void): () => void;

  /**
   * A text that differs from all that were given before as soon as a commit, or a change of the `metrics` that are kept at
   * the same place, has been acknowledged, whatever process it came from. While it stays the same, what was made of earlier
   * reads need not be made again. Leave it out where that cannot be told, or not for less than a read costs.
   */
  dataVersion?(): Awaitable<string>;

  /**
   * Bytes of the write-ahead log on disk, for `status()` of the flags; undefined when there is none. Leave it out where the
   * storage has no such file.
   */
  walBytes?(): number | undefined;

  /** Metrics kept at the same place; used unless `createFlags` is given others. */
  readonly metrics?: MetricsStorage;
}

/** Names a document. Kinds are the engine's (`project`, `flag`, `token`, …); a storage treats them as plain text. */
export interface DocumentKey {
  readonly kind: string;
  readonly id: string;
}

export interface StoredDocument {
  readonly key: DocumentKey;
  /** What the document is listed under: a flag's project. */
  readonly parent: string | null;
  /** 1 when first created, +1 with every write. A re-created document goes on from the revision it was deleted at. */
  readonly revision: number;
  /** A JSON value. */
  readonly body: unknown;
}

export interface ListQuery {
  readonly kind: string;
  /** Only documents under this parent; of all parents when absent. */
  readonly parent?: string;
  /** Which of the two stored values to give as `content`. */
  readonly part: 'summary' | 'body';
  /** Only documents whose ids come strictly after this one, whether or not such a document exists. */
  readonly after?: string;
  /** At most so many, at least 0; all when absent. */
  readonly limit?: number;
}

export interface ListedDocument {
  readonly key: DocumentKey;
  readonly parent: string | null;
  readonly revision: number;
  readonly content: unknown;
}

export interface Commit {
  /** Each key at most once, among writes and checks together. */
  readonly writes: readonly DocumentWrite[];
  /** Documents that were read, not written, and must not have moved. */
  readonly checks?: readonly DocumentCheck[];
  /**
   * Parents under which no document of the kind may be left after the writes. Evaluated after every check has been made
   * and locked, so that a writer which checks the parent's document cannot slip in between.
   */
  readonly vacant?: readonly Vacancy[];
  readonly events: readonly NewEvent[];
}

export type DocumentWrite = DocumentPut | DocumentDeletion;

export interface DocumentPut {
  readonly key: DocumentKey;
  /** The revision that was read; 0: the document must not exist (never created, or deleted). */
  readonly expected: number;
  readonly parent: string | null;
  /** A JSON value; members that are `undefined` are dropped. */
  readonly body: unknown;
  /** `JSON.stringify(body)`, where the caller has made it: it need not be made again. */
  readonly text?: string;
  /** A small JSON value that lists are made of. */
  readonly summary: unknown;
}

export interface DocumentDeletion {
  readonly key: DocumentKey;
  /** The revision that was read, at least 1. */
  readonly expected: number;
  /** Leaves a tombstone that keeps the revision counting; its body and summary are gone. */
  readonly deleted: true;
}

export interface DocumentCheck {
  readonly key: DocumentKey;
  /** The revision that was read, at least 1: absence cannot be locked, claim the key with a write instead. */
  readonly expected: number;
}

export interface Vacancy {
  readonly kind: string;
  readonly parent: string;
}

export type CommitResult =
  /** The new revision of every write, in the order of `writes`. */
  | { readonly ok: true; readonly revisions: readonly number[] }
  /** The first document found moved, or found under a parent that had to be vacant. Nothing was written. */
  | { readonly ok: false; readonly conflict: DocumentKey };

export interface NewEvent {
  readonly type: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly actor: string;
  /** The id and the kind of the API token that the actor used; absent where there was none. */
  readonly actorTokenId?: string;
  readonly actorTokenKind?: string;
  /** The document it happened to; one of the commit's writes. */
  readonly subject: DocumentKey;
  readonly project: string | null;
  readonly environment: string | null;
  /** JSON values: what changed, and what was there before. */
  readonly data: unknown;
  readonly before: unknown;
}

export interface StoredEvent extends NewEvent {
  /** A positive integer, unique in this storage. It identifies; it does not order. */
  readonly id: number;
  /** Opaque; orders the feed. */
  readonly position: string;
  /** The subject's revision after the commit that brought this event. */
  readonly revision: number;
}

export interface StoredEventQuery {
  readonly order: 'oldest-first' | 'newest-first';
  /** Only events that the feed brings strictly after this position. */
  readonly after?: string;
  /**
   * Only events that no other event can come before any more, which is what a feed gives in any case. Newest first, the
   * first of them is the place from which a feed misses nothing.
   */
  readonly settled?: true;
  readonly filter?: EventFilter;
  /** At most so many, at least 0. */
  readonly limit: number;
  /** Skips so many of the matching events; 0 when absent. */
  readonly offset?: number;
  /**
   * Ends the page before the `data` and `before` of its events, as JSON text in UTF-8, take more bytes than this; the first
   * event comes in any case. The storage must not read the data of many more events than it gives.
   */
  readonly maxBytes?: number;
  /** Nobody looks at `data` and `before` of these events: they may be null, where that saves the storage work. */
  readonly withoutData?: true;
  /** Also counts all matching events, whatever `limit` and `offset`; not counted when absent. */
  readonly total?: true;
}

/** All that are given must match. */
export interface EventFilter {
  readonly project?: string;
  readonly subject?: DocumentKey;
  readonly type?: string;
  /** ISO 8601 UTC with milliseconds, inclusive. */
  readonly from?: string;
  /** ISO 8601 UTC with milliseconds, inclusive. */
  readonly to?: string;
}

export interface EventPage {
  readonly events: StoredEvent[];
  /** How many events match, when asked for. */
  readonly total?: number;
}
