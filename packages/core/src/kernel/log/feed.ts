import { setImmediate } from 'node:timers/promises';
import type { TokenKind } from '../../base/common.types.js';
import { isFlagsError } from '../../base/errors.js';
import { memoizeAsync } from '../../base/memoize.js';
import { type Polling, startPolling } from '../../base/polling.js';
import { newestPosition, readFeed } from '../../storage/feed-pages.js';
import type { FlagsStorage, StoredEvent } from '../../storage/port.js';
import type { EventType } from '../../words/event-names.js';
import type { Registry } from '../registry.js';
import type { FlagsEvent, FlagsEventListener, SubscribeOptions } from './event.types.js';

/** Delivers committed events to listeners. */
export interface Feed {
  /**
   * Delivers all events after the position in order; without a position, all events from now on. Returns a function
   * that ends the subscription.
   */
  subscribe(listener: FlagsEventListener, options?: SubscribeOptions): () => void;
  /** Wakes a reader until the returned function ends it. */
  attach(reader: FeedReader): () => Promise<unknown>;
  /** Reads new events now. Call it after own commits, and when another process may have committed. */
  wake(): void;
  readonly subscriptions: { readonly size: number } & Iterable<FeedReader>;
  /** Resolves when every subscription knows its start position, and so misses no later commit. */
  ready(): Promise<unknown>;
  /**
   * Ends subscriptions that do not know their start position yet. Call it when the instance closes: a read that never
   * ends would block closing, and the changes that wait for it.
   */
  closePending(): void;
  /** Ends all readers. Resolves when no read is pending. */
  close(): Promise<unknown>;
}

/** Reads the feed from a position of its own. */
export interface FeedReader {
  /** There may be new events. */
  wake(): void;
  /** Resolves after the current read: whether the latest read succeeded. */
  lastReadSucceeded(): Promise<boolean>;
  /** Resolves when the start position is known, cannot be read, or is no longer needed. */
  whenStarted(): Promise<unknown>;
  /** Whether the start position is known. */
  hasStarted(): boolean;
  /** Resolves when the reader no longer uses the storage. */
  end(): Promise<unknown>;
}

export interface FeedOptions {
  readonly storage: FlagsStorage;
  readonly registry: Registry;
  /** Milliseconds; 0 disables polling. */
  readonly pollInterval: number;
  readonly onError: (error: unknown) => void;
}

/**
 * Creates a feed. Commits of this process wake its readers at once. Polling finds commits of other processes, and
 * backs off while it fails.
 */
export function createFeed({ storage, registry, pollInterval, onError }: FeedOptions): Feed {
  const readers = new Set<FeedReader>();
  let polling: Polling | undefined;

  async function poll(): Promise<boolean> {
    for (const reader of readers) reader.wake();
    const works = await Promise.all([...readers].map((reader) => reader.lastReadSucceeded()));
    return works.every(Boolean);
  }

  async function pollNow(): Promise<void> {
    if (await poll()) polling?.resetBackoff();
  }

  function attach(reader: FeedReader): () => Promise<unknown> {
    if (readers.size === 0 && pollInterval > 0) polling = startPolling({ interval: pollInterval, attempt: poll });
    readers.add(reader);
    return () => end(reader);
  }

  function end(reader: FeedReader): Promise<unknown> {
    readers.delete(reader);
    if (readers.size === 0) polling?.stop();
    return reader.end();
  }

  return {
    wake: () => {
      if (readers.size > 0) void pollNow();
    },
    subscribe: (listener, options = {}) => {
      const stop = attach(new Subscription({ storage, registry, listener, onError, ...options }));
      return () => void stop();
    },
    attach,
    subscriptions: readers,
    closePending: () => {
      for (const reader of readers) if (!reader.hasStarted()) void end(reader);
    },
    ready: () => Promise.all([...readers].map((reader) => reader.whenStarted())),
    close: () => Promise.all([...readers].map(end)),
  };
}

/** Converts a stored event to a public one, without what its type hides. */
export function toFlagsEvent({ describeEvent, kindOf }: Registry, event: StoredEvent): FlagsEvent {
  const { id, position, type, at, actor, project, environment, subject, data, before, revision } = event;
  const { changeSet, reason } = event;
  const { actorTokenId = null, actorTokenKind = null, origin = null } = event;
  const { show = (state: unknown) => state } = describeEvent(type);
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
    origin,
    project,
    flag: kindOf(subject.kind)?.isFlag ? subject.id : null,
    environment,
    data: show(data),
    before: show(before),
    revision,
  };
}

/** The largest number of events per read. */
export const BATCH_SIZE = 200;

interface SubscriptionStart extends SubscribeOptions {
  readonly storage: FlagsStorage;
  readonly registry: Registry;
  readonly listener: FlagsEventListener;
  /** Receives errors of the listener. Receives a read error once, and again only after a successful read. */
  readonly onError: (error: unknown) => void;
}

/**
 * Reads the feed from its own position and calls the listener for one event at a time. A slow listener does not delay
 * other listeners. After a failed read, the next wake-up reads from the same position.
 */
class Subscription implements FeedReader {
  /** The position after which the next read starts. Unknown until the newest event is read. */
  private position: { readonly after: string | undefined } | undefined;
  private hasEnded = false;
  private isFailureReported = false;
  private latestRead: Promise<boolean> = Promise.resolve(true);
  private resolveEnd: () => void = () => undefined;
  private readonly ending = new Promise<void>((resolve) => {
    this.resolveEnd = resolve;
  });

  /** Reads new events, unless a read is in progress. */
  readonly wake = createSerialRunner(() => this.deliver().catch((error: unknown) => this.report(error)));

  // All callers share one read: a second read would skip the events committed in between.
  private readonly findPosition = memoizeAsync<void, void>(async () => {
    if (!this.position) await Promise.race([this.readPosition(), this.ending]);
  });

  constructor(private readonly start: SubscriptionStart) {
    if (start.after !== undefined) this.position = { after: start.after };
    this.wake();
  }

  /** Resolves when the start position is known, cannot be read, or is no longer needed. */
  whenStarted(): Promise<unknown> {
    return this.findPosition().catch(() => undefined);
  }

  /** Whether the start position is known. */
  hasStarted(): boolean {
    return this.position !== undefined;
  }

  /** Resolves after the current read, without waiting for the listener: whether the latest read succeeded. */
  lastReadSucceeded(): Promise<boolean> {
    return this.latestRead;
  }

  /**
   * Stops calling the listener. Resolves when no read is pending. Does not wait for the start position, which may never
   * be known.
   */
  end(): Promise<unknown> {
    this.hasEnded = true;
    this.resolveEnd();
    return this.position ? this.latestRead : this.ending;
  }

  private async deliver(): Promise<void> {
    if (this.hasEnded) return;
    const events = await this.readNext().catch((error: unknown) => this.startAgain(error));
    this.isFailureReported = false;
    // A batch may end early because of its size in bytes: only an empty one proves the end of the feed.
    if (events.length > 0) this.wake();
    for (const event of events) await this.notify(event);
  }

  private async readNext(): Promise<readonly StoredEvent[]> {
    if (!this.position) await this.findPosition();
    if (this.hasEnded) return [];
    return this.read(readFeed(this.start.storage, { after: this.position?.after, limit: BATCH_SIZE }));
  }

  private async readPosition(): Promise<void> {
    this.position ??= { after: await this.read(newestPosition(this.start.storage)) };
  }

  private read<T>(query: Promise<T>): Promise<T> {
    this.latestRead = query.then(
      () => true,
      () => false,
    );
    return query;
  }

  /** Reads the start before the call, so that the caller misses no event after the state that it reads again. */
  private async startAgain(error: unknown): Promise<readonly StoredEvent[]> {
    if (!isFlagsError(error) || error.code !== 'history_lost') throw error;
    const { storage, onHistoryLost, onError } = this.start;
    const after = await this.read(newestPosition(storage));
    this.position = { after };
    if (this.hasEnded) return [];
    if (onHistoryLost) await onHistoryLost(after);
    else onError(error);
    this.wake();
    return [];
  }

  private async notify(event: StoredEvent): Promise<void> {
    if (this.hasEnded) return;
    this.position = { after: event.position };
    try {
      await this.start.listener(toFlagsEvent(this.start.registry, event));
    } catch (error) {
      this.start.onError(error);
    }
  }

  private report(error: unknown): void {
    if (!this.hasEnded && !this.isFailureReported) this.start.onError(error);
    this.isFailureReported = true;
  }
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
