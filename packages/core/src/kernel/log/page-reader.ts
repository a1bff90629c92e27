import { isFlagsError } from '../../base/errors.js';
import { nextTurn } from '../../base/paced.js';
import { newestPosition, readFeed } from '../../storage/feed-pages.js';
import type { FlagsStorage, StoredEvent } from '../../storage/port.js';

/** The largest number of events per page. */
const PAGE_SIZE = 200;

/** A place in the feed. Subscriptions keep theirs in memory, consumers in a document. */
export interface Cursor {
  /** The position after which the next page starts. Undefined until it is known. */
  readonly position: Position | undefined;
  /** Resolves when the position is known, or when the reader has ended. Absent if it is always known. */
  findPosition?(): Promise<unknown>;
  /** Whether the reader has ended: it reads and hands out nothing more. */
  hasEnded(): boolean;
  /** Handles the events of a page, and moves the position. The next page is read afterwards. */
  handle(events: readonly StoredEvent[]): Promise<unknown>;
  /** Continues at the newest event, because the storage has lost the history in between. */
  skip(newest: string | undefined, error: unknown): Promise<unknown>;
}

/** After an event, or at the beginning of the feed. */
export interface Position {
  readonly after: string | undefined;
}

interface PageReaderOptions {
  readonly storage: FlagsStorage;
  readonly cursor: Cursor;
  readonly maxBytes?: number;
  /** Receives the first of several failures in a row. */
  readonly onError: (error: unknown) => void;
}

/**
 * Reads the feed page by page, and hands each page to the owner of a cursor. The only reader of the feed: subscriptions and
 * consumers differ in their cursor. After a failed read, the next wake-up reads the same page again.
 */
export class PageReader {
  private isFailing = false;
  private latestRead: Promise<boolean> = Promise.resolve(true);
  private readonly runner = createSerialRunner(() => this.readPage().catch((error: unknown) => this.report(error)));

  constructor(private readonly options: PageReaderOptions) {}

  /** Reads until the end of the feed. If a read is running, reads once more after it. */
  wake(): void {
    this.runner.start();
  }

  /** Resolves after the current read, without waiting for the handler: whether the latest read succeeded. */
  lastReadSucceeded(): Promise<boolean> {
    return this.latestRead;
  }

  /** Resolves when no page is being read or handled. */
  whenIdle(): Promise<unknown> {
    return this.runner.whenIdle();
  }

  /** Counts a query of the owner as the latest read. */
  track<T>(query: Promise<T>): Promise<T> {
    this.latestRead = query.then(
      () => true,
      () => false,
    );
    return query;
  }

  private async readPage(): Promise<void> {
    const { storage, cursor, maxBytes } = this.options;
    if (cursor.hasEnded()) return;
    if (!cursor.position) await cursor.findPosition?.();
    if (cursor.hasEnded()) return;
    const range = { after: cursor.position?.after, limit: PAGE_SIZE, ...(maxBytes !== undefined && { maxBytes }) };
    let events: readonly StoredEvent[];
    try {
      events = await this.track(readFeed(storage, range));
    } catch (error) {
      await this.skipLoss(error);
      return;
    }
    this.isFailing = false;
    if (events.length === 0 || cursor.hasEnded()) return;
    // A page may end early because of its size in bytes: only an empty one proves the end of the feed.
    this.wake();
    await cursor.handle(events);
  }

  /** Finds the newest event first: the owner, which then reads the state again, misses no later event. */
  private async skipLoss(error: unknown): Promise<void> {
    if (!isFlagsError(error) || error.code !== 'history_lost') throw error;
    const newest = await this.track(newestPosition(this.options.storage));
    this.isFailing = false;
    this.wake();
    await this.options.cursor.skip(newest, error);
  }

  private report(error: unknown): void {
    if (!this.isFailing) this.options.onError(error);
    this.isFailing = true;
  }
}

/** Runs the work: never concurrently, and once more if it was started during a run. */
function createSerialRunner(work: () => Promise<void>) {
  let wanted = false;
  let running: Promise<void> | undefined;

  /** Must not await between the last check of `wanted` and the end: it would miss calls. */
  async function run(): Promise<void> {
    while (wanted) {
      wanted = false;
      await work();
      // Yields to the event loop: a storage that answers synchronously would block it until the last event.
      if (wanted) await nextTurn();
    }
    running = undefined;
  }

  return {
    start() {
      wanted = true;
      running ??= run();
    },
    whenIdle: async () => running,
  };
}
