import type { EventQuery } from '@flags/core';
import type { QueryValues } from '../query-values.js';
import { type QueryParameter, type Route, route } from '../route.js';
import { propertyOf } from '../schema-properties.js';
import { unchecked } from '../unchecked.js';
import { eventListToWire } from '../wire/event.js';
import { eventTypeFromWire, WIRE_EVENT_TYPES } from '../wire/event-types.js';
import { EVENTS } from './paths.js';

const FILTERS: readonly QueryParameter[] = [
  filter('project', 'Only events of this project.'),
  {
    name: 'type',
    description: 'Only events of this type.',
    schema: () => ({ type: 'string', enum: WIRE_EVENT_TYPES }),
  },
  filter('from', 'Only events at or after this time.'),
  filter('to', 'Only events at or before this time.'),
  filter('limit', 'At most so many; 100 when absent.'),
  filter('offset', 'Skip so many; 0 when absent.'),
];

export const eventRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: EVENTS,
    action: 'listEvents',
    summary: 'What happened, newest first',
    tag: 'Events',
    access: 'admin',
    query: FILTERS,
    streamed: 'flags',
    reply: { status: 200, schema: 'EventList' },
    errors: ['invalid_input'],
    handle: async ({ flags, query }) => ({ chunks: eventListToWire(await flags.listEvents(eventQuery(query))) }),
  }),
  route({
    method: 'GET',
    path: `${EVENTS}/:featureName`,
    action: 'listFlagEvents',
    summary: 'What happened to one flag, newest first',
    tag: 'Events',
    access: 'admin',
    query: FILTERS,
    streamed: 'flags',
    reply: { status: 200, schema: 'EventList' },
    errors: ['invalid_input'],
    handle: async ({ flags, params, query }) => ({
      chunks: eventListToWire(await flags.listEvents({ ...eventQuery(query), flag: params.featureName })),
    }),
  }),
];

function filter(name: keyof EventQuery, description: string): QueryParameter {
  return { name, description, schema: (inputs) => propertyOf(inputs.eventQuery, name) };
}

/** The same members as the engine's query has, but for the names of the types. */
function eventQuery({ type, ...rest }: QueryValues): EventQuery {
  const query = unchecked<EventQuery>(rest);
  return type === undefined ? query : { ...query, type: eventTypeFromWire(unchecked(type)) };
}
