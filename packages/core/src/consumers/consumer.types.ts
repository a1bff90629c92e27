import type { ConsumerRef, ListPage, PageQuery } from '../base/common.types.js';
import type { FlagsEvent } from '../log/event.types.js';

/** Where a consumer starts. */
export type ConsumerStart = 'now' | 'beginning';

/**
 * Handles the next events of a consumer: of one read of the log, at least one, and at most 64 KiB of `data` and `before`. When
 * it has returned, or its promise has resolved, the events are consumed. If it throws, they are repeated.
 *
 * `signal` aborts when this node may no longer handle them: after `stop()` and `close()`, when the consumer is reset or
 * deleted, and when another node has taken over. End soon then.
 */
export type ConsumerHandler = (
  events: readonly FlagsEvent[],
  context: { readonly signal: AbortSignal },
) => void | Promise<void>;

/** Options of `consume`. */
export interface ConsumeOptions {
  /** Where a new consumer starts. One that exists continues where it is. Default: `now`. */
  readonly from?: ConsumerStart | undefined;
  /**
   * Milliseconds, 1,000 to 86,400,000. If the node that runs the consumer writes no sign of life for this long, another one
   * takes over. Use the same on all nodes. Default: 30,000.
   */
  readonly lease?: number | undefined;
  /**
   * Called when the storage has lost the last event that was consumed, as after a failover without synchronous replication.
   * The consumer continues with the events after `position`, which is undefined at the beginning of the log. A returned
   * promise is awaited. Default: the loss goes to `onError`.
   */
  readonly onHistoryLost?: (position: string | undefined) => void | Promise<void>;
}

/** A durable reader of events. */
export interface Consumer {
  readonly name: string;
  /** The position of the last event that was consumed, as stored; null at the beginning of the log. */
  readonly position: string | null;
  /** What follows the position. */
  readonly lag: {
    /** The number of events, counted up to 1,000. */
    readonly events: number;
    /** The age of the oldest of them in milliseconds; 0 without one. */
    readonly ms: number;
  };
  /** The message of the last error of the handler, at most 1,000 characters; null after a success. */
  readonly error: string | null;
  /** The node that runs the consumer, by its option `usage.instance`; null if none does. */
  readonly node: string | null;
  /** When that node took over: ISO 8601; null without a node. */
  readonly since: string | null;
}

/** The input of `resetConsumer`. */
export interface ConsumerReset {
  readonly from: ConsumerStart;
}

/** Operations on durable readers of events. */
export interface ConsumerOperations {
  /**
   * Hands all events to a handler: in their order, at least once, and on one node at a time. The storage keeps the
   * position, so a consumer continues after a restart, and on another node after a crash. Call it on every node.
   *
   * A handler that throws is repeated from the same position after 1 second, later after up to 5 minutes. It delays only
   * its own consumer. Events that were handled just before a crash are handled again: about those of the last second.
   *
   * Resolves when the consumer is stored, so that a new one misses no later event. There may be 100 consumers.
   *
   * @param name as of a flag: 1–100 characters
   * @returns a function that ends the consumer on this node: it aborts `signal`, waits up to 5 seconds for the handler, and
   * leaves the consumer to other nodes. Safe to call again
   * @throws FlagsError `invalid_input`, `too_much_contention`, `closed`
   * @example
   * const stop = await flags.consume('audit', async (events) => {
   *   for (const event of events) await audit.write(event.at, event.actor, event.type);
   * });
   */
  consume(name: string, handler: ConsumerHandler, options?: ConsumeOptions): Promise<() => Promise<void>>;

  /**
   * Lists the consumers, by name, with their lag.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items } = await flags.listConsumers();
   * const failing = items.filter(({ error }) => error !== null);
   */
  listConsumers(page?: PageQuery): Promise<ListPage<Consumer>>;

  /**
   * Moves a consumer to the newest event, or to the beginning of the log. The node that runs it aborts the handler, and
   * continues there: at once if it is this one, otherwise within a third of the lease.
   *
   * @throws FlagsError `invalid_input`, `consumer_not_found`, `too_much_contention`
   * @example
   * await flags.resetConsumer({ consumer: 'audit' }, { from: 'beginning' });
   */
  resetConsumer(ref: ConsumerRef, input: ConsumerReset): Promise<void>;

  /**
   * Deletes a consumer. This node ends it at once, others within a third of the lease. They report `consumer_not_found` to
   * `onError`. It exists again when `consume` is called again.
   *
   * @throws FlagsError `consumer_not_found`, `too_much_contention`
   * @example
   * await flags.deleteConsumer({ consumer: 'audit' });
   */
  deleteConsumer(ref: ConsumerRef): Promise<void>;
}
