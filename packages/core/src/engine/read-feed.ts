import type { EventQuery, Storage, StoredEvent } from '../storage/port.js';

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

/** At most so many events after a position, in order. */
export async function readFeed(storage: Storage, range: FeedRange): Promise<readonly StoredEvent[]> {
  return (await storage.events(toQuery(range))).events;
}

/** The same events, for who only has to know what happened to which document. */
export async function readFeedHeads(storage: Storage, range: FeedRange): Promise<readonly StoredEventHead[]> {
  return (await storage.events({ ...toQuery(range), withoutData: true })).events;
}

export type StoredEventHead = Omit<StoredEvent, 'data' | 'before'>;

function toQuery({ after, limit }: FeedRange): EventQuery {
  return { order: 'oldest-first', limit, ...(after !== undefined && { after }) };
}
