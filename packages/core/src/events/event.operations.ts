import { assertListener } from '../base/collections.js';
import { LIMITS } from '../base/limits.js';
import { toTimestamp } from '../base/primitives.js';
import { assertOptions } from '../changesets/argument-checks.js';
import type { Engine } from '../changesets/engine.js';
import { flagDocuments } from '../flags/flag-documents.js';
import type { EventFilter } from '../storage/port.js';
import type { EventListener, EventLog, EventQuery, FeedPage, FeedQuery } from './event.types.js';
import { toFlagsEvent } from './feed.js';
import { newestPosition } from './feed-cursor.js';

const DEFAULT_LIMIT = 100;

export async function listEvents({ validate, storage }: Engine, input: EventQuery = {}): Promise<EventLog> {
  const query = validate.eventQuery(input);
  const { limit = DEFAULT_LIMIT, offset = 0 } = query;
  const page = await storage.events({
    order: 'newest-first',
    filter: toFilter(query),
    limit,
    offset,
    ...(query.after !== undefined && { after: query.after }),
    maxBytes: LIMITS.pageSize,
    total: true,
  });
  return { events: page.events.map(toFlagsEvent), total: page.total ?? 0 };
}

/** Bytes of a page of the feed. Small, because many readers may hold a page at the same time. */
const FEED_PAGE_BYTES = 65_536;

export async function listNextEvents({ validate, storage }: Engine, input: FeedQuery = {}): Promise<FeedPage> {
  const { limit = DEFAULT_LIMIT, after } = validate.feedQuery(input);
  if (after === undefined) return { events: [], next: (await newestPosition(storage)) ?? null };
  const { events } = await storage.events({
    order: 'oldest-first',
    limit,
    maxBytes: FEED_PAGE_BYTES,
    ...(after !== null && { after }),
  });
  return { events: events.map(toFlagsEvent), next: events.at(-1)?.position ?? after };
}

export function subscribe(
  { feed }: Engine,
  listener: EventListener,
  options: { readonly after?: string } = {},
): () => void {
  assertListener(listener);
  assertOptions('subscribe', options);
  return feed.subscribe(listener, options.after);
}

function toFilter({ project, flag, type, from, to }: EventQuery): EventFilter {
  return {
    ...(project !== undefined && { project }),
    ...(flag !== undefined && { subject: { kind: flagDocuments.kind, id: flag } }),
    ...(type !== undefined && { type }),
    ...(from !== undefined && { from: toTimestamp(from) }),
    ...(to !== undefined && { to: toTimestamp(to) }),
  };
}
