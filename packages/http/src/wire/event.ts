import {
  type Dependency,
  type EventType,
  type Flag,
  type FlagsEvent,
  type Strategy,
  TOKEN_KINDS,
  type Token,
} from '@flags/core';
import type { JsonSchema } from '@flags/core/integration';
import { unchecked } from '../messages/request.js';
import { dependencyToWire, flagToWire, strategyToWire } from './flag.js';
import { example, nullableText, objectComponent, strictObject, text, timestamp } from './schema.js';
import { tokenToWire } from './token.js';

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

export const eventTypeSchema = example('feature-environment-enabled', { type: 'string', enum: WIRE_EVENT_TYPES });

/** The user of a change. */
export const actorSchema: JsonSchema = {
  ...strictObject({ name: example('Ada') }, { image: text }),
  description: 'Name and picture, if `describeUsers` knows the user.',
};

export const eventSchema = objectComponent(
  'Event',
  {
    id: example(12, { type: 'integer', minimum: 1 }),
    type: eventTypeSchema,
    createdBy: text,
    createdByTokenId: {
      ...nullableText,
      description: 'The id of the API token of the request; null if there was none.',
    },
    createdByTokenType: {
      ...example(null, { type: ['string', 'null'], enum: [...TOKEN_KINDS, null] }),
      description: 'The type of the API token.',
    },
    createdAt: timestamp,
    project: nullableText,
    featureName: nullableText,
    environment: nullableText,
    data: { ...example({ enabled: true }, {}), description: 'The state after the change.' },
    preData: { ...example({ enabled: false }, {}), description: 'The state before it; null if there was none.' },
    changeSet: { ...text, description: 'The id of the change set.' },
    reason: { ...nullableText, description: 'The reason for the change.' },
  },
  { user: actorSchema },
);

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
    changeSet: event.changeSet,
    reason: event.reason,
    ...toWireState(event),
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
      return flagToWire(unchecked<Flag>(state));
    case 'strategy-added':
    case 'strategy-updated':
    case 'strategy-removed':
      return strategyToWire(unchecked<Strategy>(state));
    default:
      return state;
  }
}

function flagStateToWire(state: { readonly dependencies: readonly Dependency[] }) {
  return { ...state, dependencies: state.dependencies.map(dependencyToWire) };
}
