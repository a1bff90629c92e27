import type { Engine } from '../changes/engine.js';
import { flagDocuments } from '../flags/flag-documents.js';
import type { EventFilter } from '../storage/port.js';
import { LIMITS } from '../validation/limits.js';
import { toTimestamp } from '../validation/primitives.js';
import type { EventOperations, EventQuery } from './event.types.js';
import { toFlagsEvent } from './subscription.js';

const DEFAULT_LIMIT = 100;

/** The log of what has happened, and the feed of what happens. */
export function eventOperations({ storage, validate, feed }: Engine): EventOperations {
  return {
    async listEvents(input = {}) {
      const query = validate.eventQuery(input);
      const { limit = DEFAULT_LIMIT, offset = 0 } = query;
      const page = await storage.events({
        order: 'newest-first',
        filter: toFilter(query),
        limit,
        offset,
        maxBytes: LIMITS.pageSize,
        total: true,
      });
      return { events: page.events.map(toFlagsEvent), total: page.total ?? 0 };
    },

    subscribe: (listener, options = {}) => feed.subscribe(listener, options.after),
  };
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
