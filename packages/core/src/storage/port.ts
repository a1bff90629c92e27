import type { Awaitable } from '../base/common.types.js';
import type { Commit, CommitResult, DocumentKey, NewEvent } from './commit-port.js';

export type * from './commit-port.js';

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
 * - `outcome_unknown`: only from `commit`, which may or may not have happened
 * - `storage_unsupported`: a newer version of the library has migrated the state
 * - `closed`: the storage has been closed
 *
 * @example
 * const storage: FlagsStorage = memoryStorage();
 * const key = { kind: 'note', id: 'a' };
 * const put = { key, expected: 0, parent: null, body: { text: 'hello' }, summary: {} };
 * await storage.commit({ writes: [put], events: [] }); // { ok: true, revisions: [1] }
 * await storage.get(key); // { key, parent: null, revision: 1, body: { text: 'hello' } }
 */
export interface FlagsStorage {
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
   * All documents of a result come from one consistent view. Omits deleted documents. With `part: 'summary'` the
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
   * Returns the new revisions, or the key of a document that another commit has changed. Such a conflict is not an
   * error: the caller reads again and decides again. If several commits expect the same revision of a document, in any
   * processes, exactly one succeeds. A commit is acknowledged when it is durable.
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
   * @throws FlagsError `invalid_input` (`after` or `until` is not a position of this storage), `history_lost` (only for a
   * feed: the storage has lost the event at `after`, so another event may have its position. Only storages need it whose server
   * can be replaced by one that lacks commits)
   * @example
   * const { events } = await storage.events({ order: 'oldest-first', after: position, limit: 200 });
   */
  events(query: StoredEventQuery): Awaitable<EventPage>;

  /** Closes the files and connections that the storage opened itself. Calling it again has no effect. */
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
   * A value is never reused after an acknowledged commit, or an acknowledged change of `usage` in the same storage. While
   * the data version is unchanged, results derived from earlier reads are still valid. Leave it out if it costs as much
   * as a read.
   *
   * @example
   * if ((await storage.dataVersion?.()) === versionOfCache) return cached;
   */
  dataVersion?(): Awaitable<string>;

  /** Internal: the size of the write-ahead log of SQLite in bytes; undefined if there is none. `flags.status()` shows it. */
  walBytes?(): number | undefined;

  /** Internal: the driver of SQLite that runs, and why. `flags.status()` shows it. */
  readonly driver?: { readonly name: 'better-sqlite3' | 'node:sqlite'; readonly reason: string };

  /**
   * Internal: usage in the same database, which our own storages have. Leave it out: the engine then keeps usage in memory. A
   * storage that wraps one of ours passes it on.
   */
  readonly usage?: object;
}

/** A document as {@link FlagsStorage.get} returns it. */
export interface StoredDocument {
  readonly key: DocumentKey;
  /** The parent for lists, such as the project of a flag. */
  readonly parent: string | null;
  /** 1 for a new document, +1 with every write. A document that is created again after a deletion continues the count. */
  readonly revision: number;
  /** A JSON value. */
  readonly body: unknown;
}

/** Selects documents for {@link FlagsStorage.list}. */
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

/** A document as {@link FlagsStorage.list} returns it. */
export interface ListedDocument {
  readonly key: DocumentKey;
  readonly parent: string | null;
  readonly revision: number;
  /** The summary or the body, as the query asked. */
  readonly content: unknown;
}

/** An event as {@link FlagsStorage.events} returns it. */
export interface StoredEvent extends NewEvent {
  /** A positive integer, unique in this storage. It identifies the event; `position` orders it. */
  readonly id: number;
  /** Opaque position in the feed. */
  readonly position: string;
  /** The subject's revision after the commit that appended this event. */
  readonly revision: number;
  readonly reason: string | null;
}

/** Selects events for {@link FlagsStorage.events}. */
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
