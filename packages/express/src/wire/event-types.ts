import type { EventType } from '@flags/core';

/** The names that clients of this API know the events by. */
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
