import type { Storage, StoredEvent, StoredEventQuery } from '../storage/port.js';
import { LIMITS } from '../validation/limits.js';

/** The position from which on a feed brings what is not committed yet; undefined when nothing has happened yet. */
export async function newestPosition(storage: Storage): Promise<string | undefined> {
  const { events } = await storage.events({ order: 'newest-first', settled: true, limit: 1, withoutData: true });
  return events[0]?.position;
}

export interface FeedRange {
  /** From the first event when undefined. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Events after a position, in order: at most `limit`, and at most {@link LIMITS.pageSize} bytes but at least one event. */
async function readFeed(storage: Storage, range: FeedRange): Promise<readonly StoredEvent[]> {
  return (await storage.events({ ...toQuery(range), maxBytes: LIMITS.pageSize })).events;
}

/** The same events, for who only has to know what happened to which document. */
export async function readFeedHeads(storage: Storage, range: FeedRange): Promise<readonly StoredEventHead[]> {
  return (await storage.events({ ...toQuery(range), withoutData: true })).events;
}

export type StoredEventHead = Omit<StoredEvent, 'data' | 'before'>;

function toQuery({ after, limit }: FeedRange): StoredEventQuery {
  return { order: 'oldest-first', limit, ...(after !== undefined && { after }) };
}

/** The feed reads at most so many events at once. */
const BATCH = 200;

/** A place in the feed. */
export interface FeedCursor {
  /** Resolves when the place to begin at is known, or the cursor closed; fails when it cannot be read now. */
  begun(): Promise<void>;
  /** Whether the place to begin at is known. */
  hasBegun(): boolean;
  /** Reads the next events, without moving the cursor. Returns none at the end of the feed, and after `close`. */
  next(): Promise<readonly StoredEvent[]>;
  /** Goes on after this event. */
  pass(event: StoredEvent): void;
  /** Waits for what is being read: whether the latest read worked. */
  works(): Promise<boolean>;
  /** Reads no more. Resolves when the storage is no longer read; where to begin is not waited for, it may never be known. */
  close(): Promise<unknown>;
}

/** @param after where to begin; at the newest event there is when undefined */
export function createFeedCursor(storage: Storage, after: string | undefined): FeedCursor {
  let place: { readonly after: string | undefined } | undefined = after === undefined ? undefined : { after };
  let isClosed = false;
  let giveUp: () => void = () => undefined;
  const givenUp = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  let latest: Promise<boolean> = Promise.resolve(true);

  function read<T>(query: Promise<T>): Promise<T> {
    latest = query.then(
      () => true,
      () => false,
    );
    return query;
  }

  // However many wait for the answer: what is committed after it must not become the beginning.
  const begun = askedOnce(async () => {
    if (!place) await Promise.race([look(), givenUp]);
  });

  async function look(): Promise<void> {
    place ??= { after: await read(newestPosition(storage)) };
  }

  return {
    begun,
    hasBegun: () => place !== undefined,
    async next() {
      if (!place) await begun();
      return isClosed ? [] : read(readFeed(storage, { after: place?.after, limit: BATCH }));
    },
    pass: ({ position }) => {
      place = { after: position };
    },
    works: () => latest,
    close() {
      isClosed = true;
      giveUp();
      return place ? latest : givenUp;
    },
  };
}

/** A function that answers once for all who wait, and asks again only after a failure. */
function askedOnce(ask: () => Promise<void>): () => Promise<void> {
  let answer: Promise<void> | undefined;
  return () => {
    answer ??= ask().catch((error) => {
      answer = undefined;
      throw error;
    });
    return answer;
  };
}
