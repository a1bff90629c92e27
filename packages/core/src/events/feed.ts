import { type Polling, startPolling } from '../replica/change-poller.js';
import type { Storage } from '../storage/port.js';
import type { EventListener } from './event.types.js';
import { type Subscription, startSubscription } from './subscription.js';

/** Brings committed events to listeners. */
export interface Feed {
  /** Every event after the position, or from now on without one, in order. Gives the way to end it. */
  subscribe(listener: EventListener, after?: string): () => void;
  /** Looks for new events now: something was committed, or may have been. */
  wake(): void;
  /** Resolves when every subscription knows where it begins: what is committed after that, it does not miss. */
  ready(): Promise<unknown>;
  /**
   * Ends the subscriptions that do not know yet where they begin. For the end of the instance: a read that never ends would
   * hold up the changes that wait for it, and with them the end.
   */
  closePending(): void;
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
  let polling: Polling | undefined;

  async function poll(): Promise<boolean> {
    for (const subscription of subscriptions) subscription.wake();
    const works = await Promise.all([...subscriptions].map((subscription) => subscription.lastReadSucceeded()));
    return works.every(Boolean);
  }

  async function pollNow(): Promise<void> {
    if (await poll()) polling?.worked();
  }

  function end(subscription: Subscription): Promise<unknown> {
    subscriptions.delete(subscription);
    if (subscriptions.size === 0) polling?.stop();
    return subscription.end();
  }

  return {
    wake: () => {
      if (subscriptions.size > 0) void pollNow();
    },
    subscribe: (listener, after) => {
      const subscription = startSubscription({ storage, listener, onError, after });
      if (subscriptions.size === 0 && pollInterval > 0) {
        polling = startPolling({ interval: pollInterval, look: poll });
      }
      subscriptions.add(subscription);
      return () => void end(subscription);
    },
    closePending: () => {
      for (const subscription of subscriptions) if (!subscription.hasStarted()) void end(subscription);
    },
    ready: () => Promise.all([...subscriptions].map((subscription) => subscription.whenStarted())),
    close: () => Promise.all([...subscriptions].map(end)),
  };
}
