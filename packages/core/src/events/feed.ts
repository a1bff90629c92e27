import { type Polling, startPolling } from '../replica/change-poller.js';
import type { Storage } from '../storage/port.js';
import type { EventListener } from './event.types.js';
import { type Subscription, startSubscription } from './subscription.js';

/** Delivers committed events to listeners. */
export interface Feed {
  /**
   * Delivers all events after the position in order; without a position, all events from now on. Returns a function
   * that ends the subscription.
   */
  subscribe(listener: EventListener, after?: string): () => void;
  /** Reads new events now. Called after own commits, and when another process may have committed. */
  wake(): void;
  /** Resolves when every subscription knows its start position, and so misses no later commit. */
  ready(): Promise<unknown> | undefined;
  /**
   * Ends subscriptions that do not know their start position yet. Called when the instance closes: a read that never
   * ends would block the changes that wait for it, and closing.
   */
  closePending(): void;
  /** Ends all subscriptions. Resolves when no read is pending. */
  close(): Promise<unknown>;
}

export interface FeedOptions {
  readonly storage: Storage;
  /** Milliseconds; 0 disables polling. */
  readonly pollInterval: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Creates a feed. Commits of this process wake subscriptions at once. Polling finds commits of other processes, and
 * backs off while it fails.
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
    if (await poll()) polling?.resetBackoff();
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
        polling = startPolling({ interval: pollInterval, attempt: poll });
      }
      subscriptions.add(subscription);
      return () => void end(subscription);
    },
    closePending: () => {
      for (const subscription of subscriptions) if (!subscription.hasStarted()) void end(subscription);
    },
    ready() {
      if (subscriptions.size === 0) return undefined;
      return Promise.all([...subscriptions].map((subscription) => subscription.whenStarted()));
    },
    close: () => Promise.all([...subscriptions].map(end)),
  };
}
