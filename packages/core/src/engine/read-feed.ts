import type { Storage, StoredEvent } from '../storage/port.js';

/** The position from which on a feed brings what is not committed yet; undefined when nothing has happened yet. */
export async function newestPosition(storage: Storage): Promise<string | undefined> {
  const { events } = await storage.events({ order: 'newest-first', settled: true, limit: 1, withoutData: true });
  return events[0]?.position;
}

/** At most so many events after a position, or from the first without one, in order. */
export async function readFeed(
  storage: Storage,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<readonly StoredEvent[]> {
  const { events } = await storage.events({ order: 'oldest-first', limit, ...(after !== undefined && { after }) });
  return events;
}

/** The same events, for who only has to know what happened to which document. */
export async function readFeedHeads(
  storage: Storage,
  { after, limit }: { readonly after: string | undefined; readonly limit: number },
): Promise<readonly StoredEventHead[]> {
  const from = after === undefined ? {} : { after };
  const { events } = await storage.events({ order: 'oldest-first', limit, withoutData: true, ...from });
  return events;
}

export type StoredEventHead = Omit<StoredEvent, 'data' | 'before'>;
