import type { TokenKind } from '../tokens/token.types.js';

/** One fact that happened, recorded in the same commit as the change it tells of. */
export interface FlagsEvent {
  /** Unique; identifies, does not order. */
  readonly id: number;
  /** Opaque; pass it as `after` to {@link EventOperations.subscribe} to go on from here. */
  readonly position: string;
  readonly type: EventType;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly actor: string;
  /** The id and the kind of the API token that the actor used; null where the actor used none, and in older events. */
  readonly actorTokenId: string | null;
  readonly actorTokenKind: TokenKind | null;
  readonly project: string | null;
  readonly flag: string | null;
  readonly environment: string | null;
  /** What is so now; JSON. */
  readonly data: unknown;
  /** What was so before; JSON, null where there was nothing. */
  readonly before: unknown;
  /** The flag's, project's, segment's or token's revision after the change. */
  readonly revision: number;
}

export const EVENT_TYPES = [
  'project-created',
  'project-updated',
  'project-deleted',
  'member-added',
  'member-role-changed',
  'member-removed',
  'flag-created',
  'flag-updated',
  'flag-stale-on',
  'flag-stale-off',
  'flag-archived',
  'flag-revived',
  'flag-deleted',
  'strategy-added',
  'strategy-updated',
  'strategy-removed',
  'environment-enabled',
  'environment-disabled',
  'variants-updated',
  'dependency-added',
  'dependency-updated',
  'dependency-removed',
  'segment-created',
  'segment-updated',
  'segment-deleted',
  'token-created',
  'token-deleted',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** All that are given must match. */
export interface EventQuery {
  readonly project?: string;
  readonly flag?: string;
  readonly type?: EventType;
  /** ISO 8601, inclusive. */
  readonly from?: string;
  /** ISO 8601, inclusive. */
  readonly to?: string;
  /** 0–1000; 100 when absent. Large events make a page shorter, see {@link EventLog.events}. */
  readonly limit?: number;
  /** Skips so many; 0 when absent. */
  readonly offset?: number;
}

export interface EventLog {
  /**
   * Newest first. At most as many as `limit`, and no more than fit in 1 MiB (`data` and `before`, as JSON), but at least one.
   * The next page has the `offset` of this one plus the number of these events; there is none when that reaches `total`.
   */
  readonly events: readonly FlagsEvent[];
  /** All that match, whatever `limit` and `offset`. */
  readonly total: number;
}

export type EventListener = (event: FlagsEvent) => void | Promise<void>;

export interface EventOperations {
  /**
   * The event log, newest first.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { events, total } = await flags.listEvents({ flag: 'checkout', limit: 20 });
   */
  listEvents(query?: EventQuery): Promise<EventLog>;

  /**
   * Calls the listener with every event committed from now on, by this process or another on the same storage, one at a
   * time and in order; a listener that returns a promise is awaited. Without `after`, events committed just before the
   * call may come too. With it, everything after that position comes first, so that a reader which keeps the last
   * position it saw misses nothing over a restart. What a listener throws goes to `onError`; the next event still comes.
   *
   * @returns a function that ends the subscription; it may be called again
   * @throws FlagsError `closed`
   * @example
   * const unsubscribe = flags.subscribe((event) => console.log(event.type, event.flag));
   */
  subscribe(listener: EventListener, options?: { readonly after?: string }): () => void;
}

/** What a decision says has happened: enough to compute the new state from the old. Actor and time come later. */
export interface DomainEvent<Type extends EventType = EventType, Data = unknown, Before = unknown> {
  readonly type: Type;
  readonly environment?: string;
  readonly data: Data;
  readonly before: Before;
}
