import { LIMITS } from '../base/limits.js';
import type { FlagsStorage, StoredEvent, StoredEventQuery } from './port.js';

/**
 * Returns the position of the newest settled event; undefined if there is none. Later commits follow it in the feed.
 */
export async function newestPosition(storage: FlagsStorage): Promise<string | undefined> {
  const { events } = await storage.events({ order: 'newest-first', settled: true, limit: 1, withoutData: true });
  return events[0]?.position;
}

export interface FeedRange {
  /** Default: the first event. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Reads events after a position, in order: at most `limit`, and at most `maxBytes` but at least one. */
export async function readFeed(
  storage: FlagsStorage,
  { maxBytes = LIMITS.pageSize, ...range }: FeedRange & { readonly maxBytes?: number },
): Promise<readonly StoredEvent[]> {
  return (await storage.events({ ...toQuery(range), maxBytes })).events;
}

/**
 * Reads events without their data, for readers that only need to know which documents changed: at most `limit`, and the
 * rest of the last change set, so that no reader stops within a set.
 */
export async function readFeedHeads(storage: FlagsStorage, range: FeedRange): Promise<readonly StoredEventHead[]> {
  const query = { ...toQuery(range), withoutData: true } as const;
  const { events } = await storage.events(query);
  const last = events.at(-1);
  if (!last || events.length < query.limit) return events;
  const rest = { after: last.position, filter: { changeSet: last.changeSet }, limit: Number.MAX_SAFE_INTEGER };
  return [...events, ...(await storage.events({ ...query, ...rest })).events];
}

export type StoredEventHead = Omit<StoredEvent, 'data' | 'before'>;

function toQuery({ after, limit }: FeedRange): StoredEventQuery {
  return { order: 'oldest-first', limit, ...(after !== undefined && { after }) };
}
