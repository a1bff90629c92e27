import type { FlagsEvent } from '@flags/core';
import {
  eventToWire,
  type InputSchemas,
  paced,
  type WireEventQuery,
  type WireEventType,
} from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import type { Action } from '../../actions.js';
import { EVENTS } from '../../api/paths.js';
import { inputParameters, LONG_READ, parameter, textsOfPage } from '../../api/query.js';
import { type QueryParameter, type QueryValues, type RouteRequest, type RouteResult, route } from '../../api/route.js';
import { isPermitted } from '../../auth/permissions.js';
import { describeActors } from '../../auth/users.js';
import { eventFilterFor, projectsOfSetIn, subjectsOf } from '../../events/event-filter.js';
import { eventSchema, eventTypeFromWire, WIRE_EVENT_TYPES } from '../../events/event-schema.js';
import { HttpError } from '../../messages/errors.js';
import { jsonTexts } from '../../messages/json.js';
import { headerOf, unchecked } from '../../messages/request.js';
import { component, count, listOf, objectComponent, propertiesOf, version } from '../../messages/schema.js';
import { withoutUndefined } from '../environments/changes.js';
import { EXPORT_MEDIA, type ExportedPage, type ExportFormat, exportedText } from './export.js';

const eventListSchema = objectComponent('EventList', { version, events: listOf(eventSchema), totalEvents: count });

const eventStreamSchema = component('EventStream', {
  type: 'string',
  description: 'Messages whose `id` is the position for `Last-Event-ID`, and whose `data` is an event as in EventList.',
  examples: ['id:42\ndata:{"id":12,"type":"feature-stale-on","project":"default","featureName":"checkout"}\n\n'],
});

const TYPE = parameter('type', 'Only events of this type.', { type: 'string', enum: WIRE_EVENT_TYPES });

const SPAN = {
  project: 'Only events of this project.',
  from: 'Only events at or after this time.',
  to: 'Only events at or before this time.',
};

const FILTERS: readonly QueryParameter[] = [
  TYPE,
  ...inputParameters('eventQuery', {
    ...SPAN,
    limit:
      'Maximum number of items on a page, which is also limited to 1 MiB. Default: 100. The `Link` header has the next page.',
    offset: 'Number of events to skip. Default: 0.',
  }),
];

const eventExportSchema = component('EventExport', {
  type: 'string',
  description:
    'JSON Lines: one event per line, as in EventList. CSV by RFC 4180 with a line of names: one column per member, `data` and `preData` ' +
    "as JSON; a `'` precedes a cell that begins with `=`, `+`, `-`, `@` or a tab.",
  examples: ['id,type,createdAt,createdBy\r\n12,feature-stale-on,2026-01-02T10:00:00.000Z,ada@example.org\r\n'],
});

const EXPORT_QUERY: readonly QueryParameter[] = [
  parameter('format', 'Default: `jsonl`.', { type: 'string', enum: Object.keys(EXPORT_MEDIA) }),
  TYPE,
  ...inputParameters('eventQuery', SPAN),
  parameter('feature', 'Only events of the flag with this name.', { type: 'string', minLength: 1, maxLength: 100 }),
  parameter('createdBy', 'Only events of this actor.', { type: 'string', minLength: 1 }),
];

export const eventRoutes = [
  route('GET', EVENTS, 'listEvents', {
    summary: 'List the events, newest first',
    query: FILTERS,
    paged: 'always',
    long: LONG_READ,
    reply: eventListSchema,
    handle: (request) => readEvents(request, 'listEvents', eventQuery(request.query)),
  }),
  route('GET', `${EVENTS}/:featureName`, 'listFlagEvents', {
    summary: 'List the events of a flag, newest first',
    query: FILTERS,
    paged: 'always',
    long: LONG_READ,
    reply: eventListSchema,
    never: ['flag_not_found'],
    handle(request) {
      const query = { ...eventQuery(request.query), flag: request.params.featureName };
      return readEvents(request, 'listFlagEvents', query);
    },
  }),
  route('POST', `${EVENTS}/search`, 'searchEvents', {
    summary: 'Search the events by the filters and text in the body, newest first; for tools of 4.x',
    body: { schema: eventSearchInput },
    reply: eventListSchema,
    long: { kind: 'plan', isShort: ({ body }) => !Object(body).query },
    handle: searchEvents,
  }),
  route('GET', '/api/admin/event-export', 'exportEvents', {
    summary: 'Export the events as CSV or JSON Lines, newest first, in pieces while the caller reads',
    query: EXPORT_QUERY,
    long: LONG_READ,
    reply: eventExportSchema,
    form: { media: Object.values(EXPORT_MEDIA) },
    handle: exportEvents,
  }),
  route('GET', '/api/admin/event-stream', 'streamEvents', {
    permissionIn: 'anyProject',
    summary: 'Stream new events, or all events after `Last-Event-ID`, as server-sent events',
    reply: eventStreamSchema,
    form: { media: ['text/event-stream'] },
    errors: ['invalid_input'],
    async handle({ principal, services: { eventHub }, sent, isStillAdmitted }) {
      const { hasValidToken } = principal;
      const maySee = (project: string | null) => isPermitted(principal, 'listEvents', project);
      // Clients send an empty header on the first connection.
      const lastEventId = headerOf(sent, 'last-event-id') || undefined;
      return { stream: await eventHub.prepare({ lastEventId, maySee, isStillAdmitted, hasValidToken }) };
    },
  }),
];

/**
 * Returns a page of at most 1 MiB, without the events that the caller may not see. The next page continues after the last
 * event of the page, shown or hidden.
 */
async function readEvents(request: RouteRequest, action: Action, query: WireEventQuery): Promise<RouteResult> {
  const { flags } = request;
  const { items: events, total } = await flags.events.list(query);
  const { visible, toWire } = await showEvents(request, action, events);
  const texts = textsOfPage(visible, toWire);
  const cut = visible[texts.length];
  const read = cut ? events.findIndex(({ position }) => position === cut.position) : events.length;
  const end = (query.offset ?? 0) + read;
  return {
    body: { version: 1, events: jsonTexts(texts), totalEvents: total },
    next: read > 0 && end < total ? { offset: `${end}` } : undefined,
  };
}

/** Returns the events that the caller may see, and their wire form with their users. */
async function showEvents(
  { flags, principal, describeUsers }: RouteRequest,
  action: Action,
  events: readonly FlagsEvent[],
) {
  const maySee = (project: string | null) => isPermitted(principal, action, project);
  const projectsOfSet = projectsOfSetIn(flags);
  const filter = await eventFilterFor(subjectsOf(events), { projectsOfSet, maySee });
  const visible = events.flatMap((event) => filter.show(event) ?? []);
  const userOf = await describeActors(describeUsers, visible);
  return { visible, toWire: (event: FlagsEvent) => ({ ...userOf(event), ...eventToWire(event) }) };
}

/** The parameters of an export. */
interface EventExport {
  readonly format?: ExportFormat;
  readonly feature?: string;
  readonly createdBy?: string;
}

/** Reads the first page before it replies, so that a refusal has its status. */
async function exportEvents(request: RouteRequest): Promise<RouteResult> {
  const { format = 'jsonl', feature: flag, createdBy, ...rest } = unchecked<EventExport & QueryValues>(request.query);
  const query = { ...eventQuery(rest), ...withoutUndefined({ flag }) };
  const pages = readExported(request, { query, createdBy });
  return { file: { name: `events.${format}`, media: EXPORT_MEDIA[format], text: exportedText(format, pages) } };
}

interface Exported {
  readonly query: WireEventQuery;
  readonly createdBy: string | undefined;
}

/** Holds one page at a time. Fails when the caller is no longer admitted: an export may take long. */
async function* readExported(
  request: RouteRequest,
  { query, createdBy }: Exported,
): AsyncGenerator<ExportedPage, void> {
  let after: string | undefined;
  do {
    if (after !== undefined && !(await request.isStillAdmitted()))
      throw new HttpError('unauthenticated', 'The token is no longer valid.');
    const { items, next } = await request.flags.events.list({ ...query, limit: 1000, after });
    yield showEvents(
      request,
      'listEvents',
      createdBy === undefined ? items : items.filter(({ actor }) => actor === createdBy),
    );
    after = next;
  } while (after !== undefined);
}

/** The body of a search. */
interface EventSearch extends Omit<WireEventQuery, 'type'> {
  readonly type?: WireEventType;
  readonly feature?: string;
  readonly query?: string;
}

function eventSearchInput({ eventQuery }: InputSchemas): JsonSchema {
  const { project, limit, offset } = propertiesOf(eventQuery);
  const name = { type: 'string', minLength: 1, maxLength: 100 };
  return {
    type: 'object',
    properties: {
      type: { type: 'string', enum: WIRE_EVENT_TYPES },
      project: { ...project, description: 'Only events of this project.' },
      feature: { ...name, description: 'The name of a flag.' },
      query: { type: 'string', maxLength: 100, description: 'Text that the event contains; case-insensitive.' },
      limit,
      offset,
    },
  };
}

/** The maximum number of pages that a search for text reads, each of at most 1,000 events and 1 MiB. */
const SEARCHED_PAGES = 10;

/** Finds events by filters, and by text among the newest ones. Searches the wire form of events, so it finds only text that the reply shows. */
async function searchEvents(request: RouteRequest): Promise<RouteResult> {
  // Reads members by name: rest syntax would copy every unknown member.
  const { feature, query: text = '', limit = 100, offset = 0, type, project } = unchecked<EventSearch>(request.body);
  const query = eventQuery(withoutUndefined({ type, project, flag: feature }));
  // The address of the next page would need the body, so there is no link.
  if (text === '') return { body: (await readEvents(request, 'listEvents', { ...query, limit, offset })).body };
  const wanted = text.toLowerCase();
  const found: { readonly event: FlagsEvent; readonly toWire: (event: FlagsEvent) => unknown }[] = [];
  for (let page = 0, after: string | undefined; page < SEARCHED_PAGES; page++) {
    const { items, next } = await request.flags.events.list({ ...query, limit: 1000, after });
    const { visible, toWire } = await showEvents(request, 'listEvents', items);
    for await (const event of paced(visible, { signal: request.sent.signal })) {
      if (JSON.stringify(toWire(event)).toLowerCase().includes(wanted)) found.push({ event, toWire });
    }
    after = next;
    if (after === undefined) break;
  }
  const texts = textsOfPage(found.slice(offset, offset + limit), ({ event, toWire }) => toWire(event));
  return { body: { version: 1, events: jsonTexts(texts), totalEvents: found.length } };
}

/** Converts a wire query to an engine query. Only the names of the event types differ. */
function eventQuery({ type, ...rest }: QueryValues): WireEventQuery {
  const query = unchecked<WireEventQuery>(rest);
  return type === undefined ? query : { ...query, type: eventTypeFromWire(unchecked(type)) };
}
