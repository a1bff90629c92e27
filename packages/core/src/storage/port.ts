import type { Awaitable } from '../common.types.js';
import type { MetricsStorage } from './metrics-port.js';

/**
 * The storage port: keeps the engine's state as JSON documents with revisions, and the log of events.
 *
 * Implement `get`, `list`, `commit`, `events` and `close`, and prove the implementation with `storageConformance` of
 * `@flags/core/testing`. The engine passes a whole commit as data, so a storage needs no transaction API and runs no
 * callback of the engine.
 *
 * Every method is safe to call concurrently, from any number of processes. A method may return a value or a promise.
 *
 * Faults are thrown as `FlagsError` with one of these codes; other errors count as defects:
 *
 * - `storage_unavailable`: the disk or the connection failed; nothing has changed
 * - `storage_busy`: a lock was not released in time; nothing has changed
 * - `outcome_unknown`: `commit` alone; the commit may or may not have happened
 * - `storage_unsupported`: a newer version of the library has migrated the state
 * - `closed`: the storage has been closed
 *
 * @example
 * const storage: Storage = memoryStorage();
 * const key = { kind: 'note', id: 'a' };
 * const put = { key, expected: 0, parent: null, body: { text: 'hello' }, summary: {} };
 * await storage.commit({ writes: [put], events: [] }); // { ok: true, revisions: [1] }
 * await storage.get(key); // { key, parent: null, revision: 1, body: { text: 'hello' } }
 */
export interface Storage {
  /**
   * Returns a document, or undefined if it does not exist or was deleted.
   *
   * Reads every commit that was acknowledged before the call, in any process. The result is a copy: the caller may change
   * it.
   *
   * @example
   * const stored = await storage.get({ kind: 'flag', id: 'checkout' });
   * stored?.revision; // 3
   */
  get(key: DocumentKey): Awaitable<StoredDocument | undefined>;

  /**
   * Lists the documents of one kind, of one parent or of all, by id in code-point order.
   *
   * All documents of a result come from one consistent view. Deleted documents are left out. With `part: 'summary'` the
   * storage reads and parses no body. The cost of a page depends on the page, not on the length of the list.
   *
   * @example
   * // The second page of the flags of a project:
   * await storage.list({ kind: 'flag', parent: 'shop', part: 'summary', after: lastId, limit: 100 });
   */
  list(query: ListQuery): Awaitable<ListedDocument[]>;

  /**
   * Applies a whole commit, or none of it, and appends its events.
   *
   * Returns the new revisions, or the key of a document that another commit has changed. Such a conflict is not an error:
   * the caller reads again and decides again. Of several commits that expect the same revision of a document exactly one
   * succeeds, in any process. A commit is acknowledged when it is durable.
   *
   * @throws FlagsError `storage_busy` or `storage_unavailable` (nothing has changed), `outcome_unknown` (the storage cannot
   * find out whether the commit happened)
   * @example
   * const result = await storage.commit({
   *   writes: [{ key, expected: 3, parent: 'shop', body: flag, summary: { stale: false } }],
   *   checks: [{ key: { kind: 'project', id: 'shop' }, expected: 1 }],
   *   events: [event],
   * });
   * if (result.ok) result.revisions; // [4]
   * else result.conflict; // { kind: 'flag', id: 'checkout' }
   */
  commit(commit: Commit): Awaitable<CommitResult>;

  /**
   * Returns a page of events: oldest first for a feed, or newest first for a log.
   *
   * A feed reader passes the position of the last event that it got as `after`. It then gets every event exactly once,
   * while any number of writers commit.
   *
   * @throws FlagsError `invalid_input` (`after` or `until` is not a position of this storage)
   * @example
   * const { events } = await storage.events({ order: 'oldest-first', after: position, limit: 200 });
   */
  events(query: StoredEventQuery): Awaitable<EventPage>;

  /** Closes what the storage opened itself: files and connections. Calling it again has no effect. */
  close(): Awaitable<void>;

  /**
   * Optional. Calls `onChange` when another process may have committed.
   *
   * A best-effort notification: it may be late, repeated or lost, so the engine also polls. If a storage has `watch`, the
   * engine first decides a change on its copy in memory, and reads the document only after a conflict. The storage does
   * not call `onChange` after `close`.
   *
   * @returns a function that ends the notifications; calling it again has no effect
   * @example
   * const stop = storage.watch?.(() => void flags.refresh());
   */
  watch?(onChange: () => void): () => void;

  /**
   * Optional. Returns an opaque data version, which changes whenever stored state changes, in any process.
   *
   * A value is never reused after an acknowledged commit, or an acknowledged change of `metrics` in the same storage. While
   * the data version is unchanged, results derived from earlier reads are still valid. Leave it out if it costs as much
   * as a read.
   *
   * @example
   * if ((await storage.dataVersion?.()) === versionOfCache) return cached;
   */
  dataVersion?(): Awaitable<string>;

  /**
   * Optional, for storages that keep documents in this process. Returns a document as the storage keeps it, deeply
   * frozen. The engine shares it with the storage, so that each document is in memory once.
   *
   * @example
   * const stored = storage.peek?.({ kind: 'flag', id: 'checkout' });
   */
  peek?(key: DocumentKey): StoredDocument | undefined;

  /**
   * Optional. Returns the size of the write-ahead log on disk in bytes, or undefined if there is none. `flags.status()`
   * shows it.
   */
  walBytes?(): number | undefined;

  /** Metrics in the same storage. The engine uses them unless `createFlags` gets others. */
  readonly metrics?: MetricsStorage;
}

/** Identifies a document. The engine defines the kinds (`project`, `flag`, `token`, …); a storage treats them as text. */
export interface DocumentKey {
  readonly kind: string;
  readonly id: string;
}

/** A document as {@link Storage.get} returns it. */
export interface StoredDocument {
  readonly key: DocumentKey;
  /** The parent for lists, such as the project of a flag. */
  readonly parent: string | null;
  /** 1 for a new document, +1 with every write. A document that is created again after a deletion continues the count. */
  readonly revision: number;
  /** A JSON value. */
  readonly body: unknown;
}

/** Selects documents for {@link Storage.list}. */
export interface ListQuery {
  readonly kind: string;
  /** Only documents of this parent. Default: documents of all parents. */
  readonly parent?: string;
  /** Which stored value to return as `content`. */
  readonly part: 'summary' | 'body';
  /** Only documents whose ids are greater than this one, in code-point order. The id need not exist. */
  readonly after?: string;
  /** Maximum number of documents, at least 0. Default: no limit. */
  readonly limit?: number;
}

/** A document as {@link Storage.list} returns it. */
export interface ListedDocument {
  readonly key: DocumentKey;
  readonly parent: string | null;
  readonly revision: number;
  /** The summary or the body, as the query asked. */
  readonly content: unknown;
}

/** Writes, their conditions and their events, which happen together or not at all. */
export interface Commit {
  /** The documents to write. Each key occurs at most once in `writes` and `checks` together. */
  readonly writes: readonly DocumentWrite[];
  /** Documents that the decision has read, and that must be unchanged. */
  readonly checks?: readonly DocumentCheck[];
  /**
   * Parents that must have no document of a kind after the writes. The storage evaluates them after it has locked every
   * check, so that a concurrent commit that checks the parent's document cannot add a child in between.
   */
  readonly vacant?: readonly Vacancy[];
  /** Events in the order in which the feed returns them. */
  readonly events: readonly NewEvent[];
}

export type DocumentWrite = DocumentPut | DocumentTouch | DocumentDeletion;

/** Creates or replaces a document. */
export interface DocumentPut {
  readonly key: DocumentKey;
  /** The revision that the caller read. 0 means that the document must not exist: never created, or deleted. */
  readonly expected: number;
  readonly parent: string | null;
  /** A JSON value. Members that are `undefined` are dropped. */
  readonly body: unknown;
  /** `JSON.stringify(body)`, if the caller already has it: saves the storage a second serialization. */
  readonly text?: string;
  /** A small JSON value for lists. */
  readonly summary: unknown;
}

/**
 * Gives an existing document a new revision, and keeps everything else. A concurrent commit that expects the earlier
 * revision then conflicts. The storage neither reads nor writes the body.
 */
export interface DocumentTouch {
  readonly key: DocumentKey;
  /** The revision that the caller read, at least 1. */
  readonly expected: number;
  readonly touch: true;
}

/** Deletes a document. The storage keeps its revision, and removes body and summary. */
export interface DocumentDeletion {
  readonly key: DocumentKey;
  /**
   * The revision that the caller read. 0 means that the document must not exist: a change set creates and deletes it, and
   * its events need a revision. The storage then counts one.
   */
  readonly expected: number;
  readonly deleted: true;
}

/** Requires that a document is unchanged. */
export interface DocumentCheck {
  readonly key: DocumentKey;
  /** The revision that the caller read, at least 1. To require that a document does not exist, write it instead. */
  readonly expected: number;
}

/** Requires that a parent has no document of a kind. */
export interface Vacancy {
  readonly kind: string;
  readonly parent: string;
}

export type CommitResult =
  /** The new revisions, in the order of `writes`. */
  | { readonly ok: true; readonly revisions: readonly number[] }
  /** The first document that is not as expected, or that has a parent that must be vacant. Nothing has changed. */
  | { readonly ok: false; readonly conflict: DocumentKey };

/** An event to append with a {@link Commit}. */
export interface NewEvent {
  readonly type: string;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly actor: string;
  /** Id of the API token that the actor used, if any. */
  readonly actorTokenId?: string;
  /** Kind of that token. */
  readonly actorTokenKind?: string;
  /** Id of the change set that the event belongs to. All events of a change set are in one commit. Default null. */
  readonly changeSet?: string | null;
  /** Why the actor made the change set. Default null. */
  readonly reason?: string | null;
  /** The document that the event describes; the commit writes it. */
  readonly subject: DocumentKey;
  readonly project: string | null;
  readonly environment: string | null;
  /** JSON value: the change. */
  readonly data: unknown;
  /** JSON value: the state before the change. */
  readonly before: unknown;
}

/** An event as {@link Storage.events} returns it. */
export interface StoredEvent extends NewEvent {
  /** A positive integer, unique in this storage. It identifies the event; `position` orders it. */
  readonly id: number;
  /** Opaque position in the feed. */
  readonly position: string;
  /** The subject's revision after the commit that appended this event. */
  readonly revision: number;
  /** Null in events of releases without change sets. */
  readonly changeSet: string | null;
  readonly reason: string | null;
}

/** Selects events for {@link Storage.events}. */
export interface StoredEventQuery {
  readonly order: 'oldest-first' | 'newest-first';
  /** Only events that follow this position in the feed. Default: from the first event. */
  readonly after?: string;
  /** Only events up to this position in the feed, inclusive. Default: up to the last event. */
  readonly until?: string;
  /**
   * Only events before which no further event can appear. A feed never returns others. With `newest-first`, the position
   * of the first event is where a new feed reader starts without missing an event.
   */
  readonly settled?: true;
  readonly filter?: EventFilter;
  /** Maximum number of events, at least 0. */
  readonly limit: number;
  /** Number of matching events to skip. Default 0. */
  readonly offset?: number;
  /**
   * Maximum size of `data` and `before` of all events of the page, in bytes of JSON text in UTF-8. The first event is
   * returned even if it is larger. The storage must not read the data of many more events than it returns.
   */
  readonly maxBytes?: number;
  /** The caller does not need `data` and `before`: the storage may return null for them. */
  readonly withoutData?: true;
  /** Also count all matching events, regardless of `limit` and `offset`. */
  readonly total?: true;
}

/** Conditions on events. An event must meet all that are given. */
export interface EventFilter {
  readonly project?: string;
  readonly subject?: DocumentKey;
  readonly type?: string;
  /** Id of a change set. */
  readonly changeSet?: string;
  /** Earliest time, inclusive: ISO 8601, UTC, milliseconds. */
  readonly from?: string;
  /** Latest time, inclusive: ISO 8601, UTC, milliseconds. */
  readonly to?: string;
}

/** A page of events. */
export interface EventPage {
  readonly events: StoredEvent[];
  /** Number of matching events, if the query asked for it. */
  readonly total?: number;
}
