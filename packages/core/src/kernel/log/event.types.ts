import type { ListPage, TokenKind } from '../../base/common.types.js';
import type { EventType } from '../../words/event-names.js';

/** One fact, recorded in the same commit as the change that it describes. */
export interface FlagsEvent {
  /** Unique, but not ordered. */
  readonly id: number;
  /** Opaque. Pass it as `after` to `subscribe` to continue after this event. */
  readonly position: string;
  readonly type: EventType;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly actor: string;
  /** The id of the actor's API token; null without a token. `actorTokenKind` is its kind. */
  readonly actorTokenId: string | null;
  readonly actorTokenKind: TokenKind | null;
  /** The id of the change set that the event belongs to. */
  readonly changeSet: string;
  /** The reason of the change set; null without one. */
  readonly reason: string | null;
  /** What caused the change set, such as `change-request/ID`. null for a call. */
  readonly origin: string | null;
  readonly project: string | null;
  readonly flag: string | null;
  readonly environment: string | null;
  /** The new state as JSON. */
  readonly data: unknown;
  /** The previous state as JSON; null if there was none. */
  readonly before: unknown;
  /** The revision of the flag, project, segment or token after the change. */
  readonly revision: number;
}

/** Selects events. All given members must match. */
export interface EventQuery {
  readonly project?: string;
  readonly flag?: string;
  readonly type?: EventType;
  /** The earliest time, inclusive: ISO 8601. */
  readonly from?: string;
  /** The latest time, inclusive: ISO 8601. */
  readonly to?: string;
  /** Only events after this {@link FlagsEvent.position}. */
  readonly since?: string | undefined;
  /** Maximum number of events, 0–1000. Default: 100, because the log grows without end. */
  readonly limit?: number | undefined;
  /** The `next` of the previous page. Default: the newest event. */
  readonly after?: string | undefined;
}

/**
 * Newest first: at most `limit` events, and at most 1 MiB of `data` and `before` as JSON, but at least one event.
 */
export interface EventLog extends ListPage<FlagsEvent> {
  /** The number of all matching events, on all pages. */
  readonly total: number;
}

/** The query of the HTTP API, which pages by `offset`. Only the first-party router passes it. */
export interface WireEventQuery extends EventQuery {
  /** The number of events to skip. Default: 0. */
  readonly offset?: number;
}

/** Selects the next events of the feed. */
export interface FeedQuery {
  /**
   * The position of the last event that the reader has: that of the page before. null: start at the first event.
   * Absent: start now.
   */
  readonly after?: string | null;
  /** Maximum number of events, 0–1000. Default: 100, because the log grows without end. */
  readonly limit?: number;
}

/** The next events of the feed. */
export interface FeedPage {
  /**
   * Oldest first: at most `limit` events, and at most 64 KiB of `data` and `before` as JSON, but at least one event.
   */
  readonly items: readonly FlagsEvent[];
  /** Pass it as `after` to get the events that follow, now or later; null while the log is empty. */
  readonly position: string | null;
}

/** Receives events one at a time. The next event waits for a returned promise. */
export type FlagsEventListener = (event: FlagsEvent) => void | Promise<void>;

/** The start of a subscription, and its reaction if the store has lost events. */
export interface SubscribeOptions {
  /** Delivery starts with the events after this position. Default: now. */
  readonly after?: string;
  /**
   * Called when the storage has lost events that this subscription has delivered, or the one at `after`, as after a failover
   * without synchronous replication. Read the state again then. Delivery continues with the events after `position`, which is
   * undefined at the beginning of the log. A returned promise is awaited. Default: the loss goes to `onError`.
   */
  readonly onHistoryLost?: (position: string | undefined) => void | Promise<void>;
}
