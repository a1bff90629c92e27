import type { Dependency, EventQuery, EventType, Flag, FlagsEvent, Strategy, Token } from '@flags/core';
import { isPermitted } from '../auth.js';
import { unchecked } from '../body.js';
import { subjectsOf, visibilityOf } from '../changes/visibility.js';
import { type JsonChunks, jsonObject, jsonTexts } from '../json-chunks.js';
import type { Action } from '../permissions.js';
import { propertyOf, textsOfPage } from '../query.js';
import {
  type QueryParameter,
  type QueryValues,
  type Route,
  type RouteRequest,
  type RouteResult,
  route,
} from '../route.js';
import { describeActors } from '../users.js';
import { constraintToWire, flagToWire } from '../wire/flag.js';
import { dependencyToWire } from './dependencies.js';
import { EVENTS } from './paths.js';
import { tokenToWire } from './tokens.js';

/** The wire name of each event type. */
const WIRE_NAMES = {
  'project-created': 'project-created',
  'project-updated': 'project-updated',
  'project-deleted': 'project-deleted',
  'member-added': 'project-user-added',
  'member-role-changed': 'project-user-role-changed',
  'member-removed': 'project-user-removed',
  'flag-created': 'feature-created',
  'flag-updated': 'feature-metadata-updated',
  'flag-stale-on': 'feature-stale-on',
  'flag-stale-off': 'feature-stale-off',
  'flag-archived': 'feature-archived',
  'flag-revived': 'feature-revived',
  'flag-deleted': 'feature-deleted',
  'flag-moved': 'feature-project-change',
  'strategy-added': 'feature-strategy-add',
  'strategy-updated': 'feature-strategy-update',
  'strategy-removed': 'feature-strategy-remove',
  'environment-enabled': 'feature-environment-enabled',
  'environment-disabled': 'feature-environment-disabled',
  'variants-updated': 'feature-variants-updated',
  'dependency-added': 'feature-dependency-added',
  'dependency-updated': 'feature-dependency-updated',
  'dependency-removed': 'feature-dependency-removed',
  'segment-created': 'segment-created',
  'segment-updated': 'segment-updated',
  'segment-deleted': 'segment-deleted',
  'token-created': 'api-token-created',
  'token-updated': 'api-token-updated',
  'token-deleted': 'api-token-deleted',
} as const satisfies Record<EventType, string>;

export type WireEventType = (typeof WIRE_NAMES)[EventType];

export const WIRE_EVENT_TYPES: readonly WireEventType[] = Object.values(WIRE_NAMES);

const EVENT_TYPES_BY_WIRE_NAME = new Map(
  Object.entries(WIRE_NAMES).map(([type, name]) => [name, type as EventType] as const),
);

export function eventTypeToWire(type: EventType): WireEventType {
  return WIRE_NAMES[type];
}

export function eventTypeFromWire(name: WireEventType): EventType {
  const type = EVENT_TYPES_BY_WIRE_NAME.get(name);
  if (type === undefined) throw new TypeError(`There is no event type ${name}.`);
  return type;
}

function eventListToWire(events: JsonChunks, total: number) {
  return jsonObject({ version: 1, events, totalEvents: total });
}

export function eventToWire(event: FlagsEvent) {
  return {
    id: event.id,
    type: eventTypeToWire(event.type),
    createdAt: event.at,
    createdBy: event.actor,
    createdByTokenId: event.actorTokenId,
    createdByTokenType: event.actorTokenKind,
    project: event.project,
    featureName: event.flag,
    environment: event.environment,
    ...toWireState(event),
    changeSet: event.changeSet,
    reason: event.reason,
  };
}

/** Returns the states of an event, committed or planned. */
export function toWireState({ type, data, before }: Pick<FlagsEvent, 'type' | 'data' | 'before'>) {
  return { data: stateToWire(type, data), preData: stateToWire(type, before) };
}

/** Converts the state in an event. Tokens, dependencies and flags have different wire names. */
function stateToWire(type: FlagsEvent['type'], state: unknown): unknown {
  if (state === null) return null;
  switch (type) {
    case 'token-created':
    case 'token-deleted':
      return tokenToWire(unchecked<Token>(state));
    case 'dependency-added':
    case 'dependency-updated':
    case 'dependency-removed':
      return dependencyToWire(unchecked<Dependency>(state));
    case 'flag-created':
    case 'flag-deleted':
      return flagStateToWire(unchecked(state));
    case 'flag-updated':
      return flagUpdateToWire(unchecked(state));
    case 'strategy-added':
    case 'strategy-updated':
    case 'strategy-removed':
      return withValues(unchecked(state));
    default:
      return state;
  }
}

/** Clients expect `values` in every constraint, as in strategies. */
function withValues(strategy: Strategy) {
  return { ...strategy, constraints: strategy.constraints.map(constraintToWire) };
}

/** Converts a whole flag. Events of release 0.1 contain only the changed members, which pass through unchanged. */
function flagUpdateToWire(state: Partial<Flag>) {
  return state.name === undefined ? state : flagToWire(unchecked<Flag>(state));
}

function flagStateToWire(state: { readonly dependencies?: readonly Dependency[] }) {
  return { ...state, ...(state.dependencies && { dependencies: state.dependencies.map(dependencyToWire) }) };
}

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
    handle: (request) => readEvents(request, 'listEvents', eventQuery(request.query)),
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
    handle(request) {
      const query = { ...eventQuery(request.query), flag: request.params.featureName };
      return readEvents(request, 'listFlagEvents', query);
    },
  }),
  route({
    method: 'GET',
    path: '/api/admin/event-stream',
    action: 'streamEvents',
    permission: 'listEvents',
    permissionBy: 'anyProject',
    summary: 'What happens from now on, or after `Last-Event-ID`, as server-sent events',
    tag: 'Events',
    access: 'admin',
    reply: { status: 200, schema: 'EventStream', media: 'text/event-stream' },
    errors: ['invalid_input'],
    async handle({ principal, eventHub, lastEventId, isStillAdmitted, hasValidToken }) {
      const maySee = (project: string | null) => isPermitted(principal, 'listEvents', project);
      return { stream: await eventHub.prepare({ lastEventId, maySee, isStillAdmitted, hasValidToken }) };
    },
  }),
];

/**
 * Returns a page of at most 1 MiB, without the events that the caller may not see. The next page continues after the last
 * event of the page, shown or hidden.
 */
async function readEvents(request: RouteRequest, action: Action, query: EventQuery): Promise<RouteResult> {
  const { flags, principal, describeUsers } = request;
  const { events, total } = await flags.listEvents(query);
  const maySee = (project: string | null) => isPermitted(principal, action, project);
  const projectsOfSet = flags.listChangeSetProjects;
  const visibility = await visibilityOf(subjectsOf(events), { projectsOfSet, maySee });
  const visible = events.flatMap((event) => visibility.show(event) ?? []);
  const { userOf, audience } = await describeActors(describeUsers, visible);
  const texts = textsOfPage(visible, (event) => ({ ...eventToWire(event), ...userOf(event) }));
  const cut = visible[texts.length];
  const read = cut ? events.findIndex(({ position }) => position === cut.position) : events.length;
  const end = (query.offset ?? 0) + read;
  return {
    chunks: eventListToWire(jsonTexts(texts), total),
    audience: [...audience, ...visible.map(({ id, reason }) => `${id} ${reason === null}`)],
    next: read > 0 && end < total ? { offset: `${end}` } : undefined,
  };
}

function filter(name: keyof EventQuery, description: string): QueryParameter {
  return { name, description, schema: (inputs) => propertyOf(inputs.eventQuery, name) };
}

/** Converts a wire query to an engine query. Only the names of the event types differ. */
function eventQuery({ type, ...rest }: QueryValues): EventQuery {
  const query = unchecked<EventQuery>(rest);
  return type === undefined ? query : { ...query, type: eventTypeFromWire(unchecked(type)) };
}
