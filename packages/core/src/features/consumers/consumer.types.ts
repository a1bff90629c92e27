import type { FlagsEvent } from '../../kernel/log/event.types.js';

/** Where a consumer starts. */
export type ConsumerStart = 'now' | 'beginning';

/**
 * Handles the next events of a consumer: at least one, and at most 64 KiB of `data` and `before`. The events are consumed when
 * it has returned, or when its promise has resolved. If it throws, they are repeated.
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
