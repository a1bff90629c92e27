import { assertListener } from '../../base/collections.js';
import { LIMITS } from '../../base/limits.js';
import { toTimestamp } from '../../base/primitives.js';
import { assertOptions, type Validator } from '../../base/validator.js';
import { Namespace, run } from '../../kernel/changes/run-operation.js';
import type { Engine } from '../../kernel/engine.js';
import type {
  EventLog,
  EventQuery,
  FeedPage,
  FeedQuery,
  FlagsEventListener,
  SubscribeOptions,
  WireEventQuery,
} from '../../kernel/log/event.types.js';
import { type Feed, toFlagsEvent } from '../../kernel/log/feed.js';
import { type Call, call, defineOperations, NO_REFERENCE } from '../../kernel/operation.js';
import { newestPosition } from '../../storage/feed-pages.js';
import type { EventFilter } from '../../storage/port.js';
import { flagDocuments } from '../flags/flag.kind.js';

/** Events of a page without a limit: the log grows without end. */
const DEFAULT_LIMIT = 100;

/** What the event log needs beside the rest of the engine. */
export interface EventEngine extends Engine {
  readonly feed: Feed;
  readonly validate: { readonly eventQuery: Validator<WireEventQuery>; readonly feedQuery: Validator<FeedQuery> };
}

async function listEvents({ validate, storage, registry }: EventEngine, input: EventQuery = {}): Promise<EventLog> {
  const query = validate.eventQuery(input);
  const { limit = DEFAULT_LIMIT, after, since } = query;
  const all = {
    order: 'newest-first',
    filter: toFilter(query),
    total: true,
    ...(since !== undefined && { after: since }),
  } as const;
  // A cursor is the last event of the previous page, which is skipped. HTTP pages by `offset`.
  const start = after === undefined ? { offset: query.offset ?? 0 } : { until: after, offset: 1 };
  const { events, total = 0 } = await storage.events({ ...all, ...start, limit, maxBytes: LIMITS.pageSize });
  const last = start.offset + events.length < total ? events.at(-1) : undefined;
  return {
    items: events.map((event) => toFlagsEvent(registry, event)),
    ...(last && { next: last.position }),
    total: after === undefined ? total : ((await storage.events({ ...all, limit: 0 })).total ?? 0),
  };
}

/** Bytes of a page of the feed. Small, because many readers may hold a page at the same time. */
export const FEED_PAGE_BYTES = 65_536;

async function listNextEvents({ validate, storage, registry }: EventEngine, input: FeedQuery = {}): Promise<FeedPage> {
  const { limit = DEFAULT_LIMIT, after } = validate.feedQuery(input);
  if (after === undefined) return { items: [], position: (await newestPosition(storage)) ?? null };
  const { events } = await storage.events({
    order: 'oldest-first',
    limit,
    maxBytes: FEED_PAGE_BYTES,
    ...(after !== null && { after }),
  });
  return { items: events.map((event) => toFlagsEvent(registry, event)), position: events.at(-1)?.position ?? after };
}

export function subscribe(
  { feed }: EventEngine,
  listener: FlagsEventListener,
  options: SubscribeOptions = {},
): () => void {
  assertListener(listener);
  assertOptions('subscribe', options);
  return feed.subscribe(listener, options);
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

/** The reads of events. */
export const eventOperations = defineOperations({
  listEvents: call({
    method: 'events.list',
    ref: NO_REFERENCE,
    run: (engine: EventEngine, { input }: Call<undefined, EventQuery | undefined>) => listEvents(engine, input),
  }),
  listNextEvents: call({
    method: 'events.listNext',
    ref: NO_REFERENCE,
    run: (engine: EventEngine, { input }: Call<undefined, FeedQuery | undefined>) => listNextEvents(engine, input),
  }),
});

/** Reads of the event log: `flags.events`. `flags.subscribe` and `flags.consume` hand events to a function. */
export class Events extends Namespace {
  /**
   * Lists events, newest first.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items, total } = await flags.events.list({ flag: 'checkout', limit: 20 });
   */
  list(query?: EventQuery): Promise<EventLog> {
    return run(this, eventOperations.listEvents, { input: query });
  }

  /**
   * Lists the events after a position, oldest first, without a total. For readers that store their own position.
   * Without `after` the list is empty, and `position` is that of the newest event.
   *
   * @throws FlagsError `invalid_input`, `history_lost` (the storage has no longer the event at `after`: start again)
   * @example
   * let { position } = await flags.events.listNext();
   * // … later:
   * const page = await flags.events.listNext({ after: position });
   * position = page.position;
   */
  listNext(query?: FeedQuery): Promise<FeedPage> {
    return run(this, eventOperations.listNextEvents, { input: query });
  }
}
