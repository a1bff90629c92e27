import type { TokenKind } from '../../base/common.types.js';
import { memoizeAsync } from '../../base/memoize.js';
import { type Polling, startPolling } from '../../base/polling.js';
import { newestPosition } from '../../storage/feed-pages.js';
import type { FlagsStorage, StoredEvent } from '../../storage/port.js';
import type { EventType } from '../../words/event-names.js';
import type { Registry } from '../registry.js';
import type { FlagsEvent, FlagsEventListener, SubscribeOptions } from './event.types.js';
import { type Cursor, PageReader, type Position } from './page-reader.js';

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
  /** Reads new events, if there are any. */
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

interface SubscriptionStart extends SubscribeOptions {
  readonly storage: FlagsStorage;
  readonly registry: Registry;
  readonly listener: FlagsEventListener;
  /** Receives errors of the listener, and the first of several failed reads in a row. */
  readonly onError: (error: unknown) => void;
}

/**
 * A reader of the feed whose cursor is in memory. Calls the listener for one event at a time. A slow listener does not delay
 * other listeners.
 */
class Subscription implements FeedReader, Cursor {
  position: Position | undefined;
  private isOver = false;
  private resolveEnd: () => void = () => undefined;
  private readonly ending = new Promise<void>((resolve) => {
    this.resolveEnd = resolve;
  });
  private readonly reader: PageReader;

  // All callers share one read: a second read would skip the events committed in between.
  readonly findPosition = memoizeAsync<void, void>(async () => {
    if (!this.position) await Promise.race([this.readPosition(), this.ending]);
  });

  constructor(private readonly start: SubscriptionStart) {
    const { storage, after, onError } = start;
    if (after !== undefined) this.position = { after };
    this.reader = new PageReader({
      storage,
      cursor: this,
      onError: (error) => {
        if (!this.isOver) onError(error);
      },
    });
    this.reader.wake();
  }

  wake(): void {
    this.reader.wake();
  }

  whenStarted(): Promise<unknown> {
    return this.findPosition().catch(() => undefined);
  }

  hasStarted(): boolean {
    return this.position !== undefined;
  }

  lastReadSucceeded(): Promise<boolean> {
    return this.reader.lastReadSucceeded();
  }

  hasEnded(): boolean {
    return this.isOver;
  }

  /**
   * Stops calling the listener. Resolves when no read is pending. Does not wait for the start position, which may never
   * be known.
   */
  end(): Promise<unknown> {
    this.isOver = true;
    this.resolveEnd();
    return this.position ? this.reader.lastReadSucceeded() : this.ending;
  }

  async handle(events: readonly StoredEvent[]): Promise<void> {
    const { registry, listener, onError } = this.start;
    for (const event of events) {
      if (this.isOver) return;
      this.position = { after: event.position };
      try {
        await listener(toFlagsEvent(registry, event));
      } catch (error) {
        onError(error);
      }
    }
  }

  async skip(newest: string | undefined, error: unknown): Promise<void> {
    const { onHistoryLost, onError } = this.start;
    this.position = { after: newest };
    if (this.isOver) return;
    if (onHistoryLost) await onHistoryLost(newest);
    else onError(error);
  }

  private async readPosition(): Promise<void> {
    this.position ??= { after: await this.reader.track(newestPosition(this.start.storage)) };
  }
}
