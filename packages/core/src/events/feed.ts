import { setImmediate } from 'node:timers/promises';
import { isFlagsError } from '../errors.js';
import { flagDocuments } from '../flags/flag-documents.js';
import { type Polling, startPolling } from '../replica/change-poller.js';
import type { Storage, StoredEvent } from '../storage/port.js';
import { tokenDocuments } from '../tokens/token.js';
import type { TokenKind } from '../tokens/token.types.js';
import type { EventListener, EventType, FlagsEvent, SubscribeOptions } from './event.types.js';
import { createFeedCursor } from './feed-cursor.js';

/** Delivers committed events to listeners. */
export interface Feed {
  /**
   * Delivers all events after the position in order; without a position, all events from now on. Returns a function
   * that ends the subscription.
   */
  subscribe(listener: EventListener, options?: SubscribeOptions): () => void;
  /** Reads new events now. Call it after own commits, and when another process may have committed. */
  wake(): void;
  readonly subscriptions: { readonly size: number };
  /** Resolves when every subscription knows its start position, and so misses no later commit. */
  ready(): Promise<unknown>;
  /**
   * Ends subscriptions that do not know their start position yet. Call it when the instance closes: a read that never
   * ends would block closing, and the changes that wait for it.
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
    subscribe: (listener, options = {}) => {
      const subscription = startSubscription({ storage, listener, onError, ...options });
      if (subscriptions.size === 0 && pollInterval > 0) {
        polling = startPolling({ interval: pollInterval, attempt: poll });
      }
      subscriptions.add(subscription);
      return () => void end(subscription);
    },
    closePending: () => {
      for (const subscription of subscriptions) if (!subscription.hasStarted()) void end(subscription);
    },
    subscriptions,
    ready: () => Promise.all([...subscriptions].map((subscription) => subscription.whenStarted())),
    close: () => Promise.all([...subscriptions].map(end)),
  };
}

/** Converts a stored event to a public one, without the hash of a token. */
export function toFlagsEvent(event: StoredEvent): FlagsEvent {
  const { id, position, type, at, actor, project, environment, subject, data, before, revision } = event;
  const { changeSet, reason } = event;
  const { actorTokenId = null, actorTokenKind = null } = event;
  const shown = subject.kind === tokenDocuments.kind ? withoutHash : (value: unknown) => value;
  return {
    id,
    position,
    type: type as EventType,
    at,
    actor,
    actorTokenId,
    actorTokenKind: actorTokenKind as TokenKind | null,
    changeSet,
    reason,
    project,
    flag: subject.kind === flagDocuments.kind ? subject.id : null,
    environment,
    data: shown(data),
    before: shown(before),
    revision,
  };
}

/** Removes the hash from the state of a token. */
export function withoutHash(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const { hash: _hash, ...shown } = value as { readonly hash?: unknown };
  return shown;
}

interface Subscription {
  /** Resolves when the start position is known, cannot be read, or is no longer needed. */
  whenStarted(): Promise<unknown>;
  /** Whether the start position is known. */
  hasStarted(): boolean;
  /** Reads new events, unless a read is in progress. */
  wake(): void;
  /** Resolves after the current read, without waiting for the listener: whether the latest read succeeded. */
  lastReadSucceeded(): Promise<boolean>;
  /** Stops calling the listener. Resolves when no read is pending. */
  end(): Promise<unknown>;
}

interface SubscriptionStart extends SubscribeOptions {
  readonly storage: Storage;
  readonly listener: EventListener;
  /** Receives errors of the listener. Receives a read error once, and again only after a successful read. */
  readonly onError: (error: unknown) => void;
}

/**
 * Reads the feed from its own position and calls the listener for one event at a time. A slow listener does not delay
 * other listeners. After a failed read, the next wake-up reads from the same position.
 */
function startSubscription({ storage, listener, onError, after, onHistoryLost }: SubscriptionStart): Subscription {
  const cursor = createFeedCursor(storage, after);
  const wake = createSerialRunner(() => deliver().catch(report));
  let ended = false;
  let isFailureReported = false;

  async function deliver(): Promise<void> {
    if (ended) return;
    const events = await cursor.next().catch(startAgain);
    isFailureReported = false;
    // A batch may end early because of its size in bytes: only an empty one proves the end of the feed.
    if (events.length > 0) wake();
    for (const event of events) await notify(event);
  }

  /** The start is read before the call, so that the caller misses no event after the state that it reads again. */
  async function startAgain(error: unknown): Promise<readonly StoredEvent[]> {
    if (!isFlagsError(error) || error.code !== 'history_lost') throw error;
    const position = await cursor.restart();
    if (ended) return [];
    if (onHistoryLost) await onHistoryLost(position);
    else onError(error);
    wake();
    return [];
  }

  async function notify(event: StoredEvent): Promise<void> {
    if (ended) return;
    cursor.advancePast(event);
    try {
      await listener(toFlagsEvent(event));
    } catch (error) {
      onError(error);
    }
  }

  function report(error: unknown): void {
    if (!ended && !isFailureReported) onError(error);
    isFailureReported = true;
  }

  wake();
  return {
    whenStarted: () => cursor.whenStarted().catch(() => undefined),
    hasStarted: cursor.hasStarted,
    wake,
    lastReadSucceeded: cursor.lastReadSucceeded,
    end() {
      ended = true;
      return cursor.close();
    },
  };
}

/** Returns a function that runs the work: never concurrently, and once more if it was called during a run. */
function createSerialRunner(work: () => Promise<void>): () => void {
  let wanted = false;
  let running = false;

  /** Must not await between the last check of `wanted` and the end: it would miss calls. */
  async function run(): Promise<void> {
    running = true;
    while (wanted) {
      wanted = false;
      await work();
      // Yields to the event loop: a storage that answers synchronously would block it until the last event.
      if (wanted) await setImmediate();
    }
    running = false;
  }

  return () => {
    wanted = true;
    if (!running) void run();
  };
}
