import { assertOptions, type Engine } from '../changes/engine.js';
import { assertListener } from '../collections.js';
import { flagDocuments } from '../flags/flag-documents.js';
import type { EventFilter } from '../storage/port.js';
import { LIMITS } from '../validation/limits.js';
import { toTimestamp } from '../validation/primitives.js';
import type { EventListener, EventLog, EventQuery } from './event.types.js';
import { toFlagsEvent } from './feed.js';

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
