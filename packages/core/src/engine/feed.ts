import type { EventListener } from '../api/events.js';
import type { Storage } from '../storage/port.js';
import { startPolling } from './polling.js';
import { type Subscription, startSubscription } from './subscription.js';

/** Brings committed events to listeners. */
export interface Feed {
  /** Every event after the position, or from now on without one, in order. Gives the way to end it. */
  subscribe(listener: EventListener, after?: string): () => void;
  /** Looks for new events now: something was committed. */
  wake(): void;
  /** Resolves when every subscription knows where it begins: what is committed after that, it does not miss. */
  settled(): Promise<unknown>;
  /**
   * Ends the subscriptions that do not know yet where they begin. For the end of the instance: a read that never ends would
   * hold up the changes that wait for it, and with them the end.
   */
  endUnsettled(): void;
  /** Ends all subscriptions. Resolves when the storage is no longer read. */
  close(): Promise<unknown>;
}

export interface FeedOptions {
  readonly storage: Storage;
  /** Milliseconds; 0: never. */
  readonly pollInterval: number;
  readonly onError: (error: unknown) => void;
}

/**
 * A commit of this process wakes the subscriptions at once; what other processes have committed is looked for once per
 * interval, and more seldom while that fails.
 */
export function createFeed({ storage, pollInterval, onError }: FeedOptions): Feed {
  const subscriptions = new Set<Subscription>();
  let stopPolling: (() => void) | undefined;

  function wake(): void {
    for (const subscription of subscriptions) subscription.wake();
  }

  async function look(): Promise<boolean> {
    wake();
    const works = await Promise.all([...subscriptions].map((subscription) => subscription.works()));
    return works.every(Boolean);
  }

  function end(subscription: Subscription): Promise<unknown> {
    subscriptions.delete(subscription);
    if (subscriptions.size === 0) stopPolling?.();
    return subscription.end();
  }

  return {
    wake,
    subscribe: (listener, after) => {
      const subscription = startSubscription({ storage, listener, onError, after });
      if (subscriptions.size === 0 && pollInterval > 0) {
        stopPolling = startPolling({ interval: pollInterval, look });
      }
      subscriptions.add(subscription);
      return () => void end(subscription);
    },
    endUnsettled: () => {
      for (const subscription of subscriptions) if (!subscription.hasBegun()) void end(subscription);
    },
    settled: () => Promise.all([...subscriptions].map((subscription) => subscription.begun())),
    close: () => Promise.all([...subscriptions].map(end)),
  };
}
