import { LIMITS } from '../base/limits.js';
import { memoizeAsync } from '../base/memoize.js';
import type { Storage, StoredEvent, StoredEventQuery } from '../storage/port.js';

/**
 * Returns the position of the newest settled event; undefined if there is none. Later commits follow it in the feed.
 */
export async function newestPosition(storage: Storage): Promise<string | undefined> {
  const { events } = await storage.events({ order: 'newest-first', settled: true, limit: 1, withoutData: true });
  return events[0]?.position;
}

export interface FeedRange {
  /** Default: the first event. */
  readonly after: string | undefined;
  readonly limit: number;
}

/**
 * Reads events after a position, in order: at most `limit`, and at most {@link LIMITS.pageSize} bytes but at least one.
 */
async function readFeed(storage: Storage, range: FeedRange): Promise<readonly StoredEvent[]> {
  return (await storage.events({ ...toQuery(range), maxBytes: LIMITS.pageSize })).events;
}

/**
 * Reads events without their data, for readers that only need to know which documents changed: at most `limit`, and the
 * rest of the last change set, so that no reader stops within a set.
 */
export async function readFeedHeads(storage: Storage, range: FeedRange): Promise<readonly StoredEventHead[]> {
  const query = { ...toQuery(range), withoutData: true } as const;
  const { events } = await storage.events(query);
  const last = events.at(-1);
  if (!last || last.changeSet === null || events.length < query.limit) return events;
  const rest = { after: last.position, filter: { changeSet: last.changeSet }, limit: Number.MAX_SAFE_INTEGER };
  return [...events, ...(await storage.events({ ...query, ...rest })).events];
}

export type StoredEventHead = Omit<StoredEvent, 'data' | 'before'>;

function toQuery({ after, limit }: FeedRange): StoredEventQuery {
  return { order: 'oldest-first', limit, ...(after !== undefined && { after }) };
}

/** The largest number of events per read. */
const BATCH_SIZE = 200;

/** Reads the feed from a position. */
export interface FeedCursor {
  /** Resolves when the start position is known or the cursor is closed. Rejects if the position cannot be read. */
  whenStarted(): Promise<void>;
  /** Whether the start position is known. */
  hasStarted(): boolean;
  /**
   * Reads the next events, without moving the position. Starts reading synchronously. Returns none at the end of the
   * feed, and after `close`.
   */
  next(): Promise<readonly StoredEvent[]>;
  /** Moves the position to this event. */
  advancePast(event: StoredEvent): void;
  /** Moves the position to the newest event, which it returns. */
  restart(): Promise<string | undefined>;
  /** Resolves after the current read: whether the latest read succeeded. */
  lastReadSucceeded(): Promise<boolean>;
  /**
   * Stops reading. Resolves when no read is pending. Does not wait for the start position, which may never be known.
   */
  close(): Promise<unknown>;
}

/**
 * Creates a cursor.
 *
 * @param after the start position; undefined for the newest event
 */
export function createFeedCursor(storage: Storage, after: string | undefined): FeedCursor {
  let current: { readonly after: string | undefined } | undefined = after === undefined ? undefined : { after };
  let isClosed = false;
  let resolveClosed: () => void = () => undefined;
  const closed = new Promise<void>((resolve) => {
    resolveClosed = resolve;
  });
  let latest: Promise<boolean> = Promise.resolve(true);

  function read<T>(query: Promise<T>): Promise<T> {
    latest = query.then(
      () => true,
      () => false,
    );
    return query;
  }

  // All callers share one read: a second read would skip the events committed in between.
  const whenStarted = memoizeAsync<void, void>(async () => {
    if (!current) await Promise.race([findStart(), closed]);
  });

  async function findStart(): Promise<void> {
    current ??= { after: await read(newestPosition(storage)) };
  }

  return {
    whenStarted,
    hasStarted: () => current !== undefined,
    async next() {
      if (!current) await whenStarted();
      return isClosed ? [] : read(readFeed(storage, { after: current?.after, limit: BATCH_SIZE }));
    },
    advancePast: ({ position }) => {
      current = { after: position };
    },
    async restart() {
      const newest = await read(newestPosition(storage));
      current = { after: newest };
      return newest;
    },
    lastReadSucceeded: () => latest,
    close() {
      isClosed = true;
      resolveClosed();
      return current ? latest : closed;
    },
  };
}
