import type { EventQuery, Flags } from '@flags/core';
import { jsonTexts } from '../json-chunks.js';
import { textsOfPage } from '../page-query.js';
import type { QueryValues } from '../query-values.js';
import { type QueryParameter, type Route, type RouteResult, route } from '../route.js';
import { propertyOf } from '../schema-properties.js';
import { unchecked } from '../unchecked.js';
import { eventListToWire, eventToWire } from '../wire/event.js';
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
  filter('limit', 'At most so many, and no more than 1 MiB; 100 when absent. The Link header names the next page.'),
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
    paged: 'always',
    streamed: 'flags',
    reply: { status: 200, schema: 'EventList' },
    errors: ['invalid_input'],
    handle: ({ flags, query }) => readEvents(flags, eventQuery(query)),
  }),
  route({
    method: 'GET',
    path: `${EVENTS}/:featureName`,
    action: 'listFlagEvents',
    summary: 'What happened to one flag, newest first',
    tag: 'Events',
    access: 'admin',
    query: FILTERS,
    paged: 'always',
    streamed: 'flags',
    reply: { status: 200, schema: 'EventList' },
    errors: ['invalid_input'],
    handle: ({ flags, params, query }) => readEvents(flags, { ...eventQuery(query), flag: params.featureName }),
  }),
];

/** A page ends at 1 MiB; the next one begins where it stopped. */
async function readEvents(flags: Flags, query: EventQuery): Promise<RouteResult> {
  const { events, total } = await flags.listEvents(query);
  const texts = textsOfPage(events, eventToWire);
  const end = (query.offset ?? 0) + texts.length;
  const next = texts.length > 0 && end < total ? { offset: `${end}` } : undefined;
  return { chunks: eventListToWire(jsonTexts(texts), total), next };
}

function filter(name: keyof EventQuery, description: string): QueryParameter {
  return { name, description, schema: (inputs) => propertyOf(inputs.eventQuery, name) };
}

/** The same members as the engine's query has, but for the names of the types. */
function eventQuery({ type, ...rest }: QueryValues): EventQuery {
  const query = unchecked<EventQuery>(rest);
  return type === undefined ? query : { ...query, type: eventTypeFromWire(unchecked(type)) };
}
