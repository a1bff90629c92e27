import type { EventLog, FlagsEvent, Token } from '@flags/core';
import { unchecked } from '../unchecked.js';
import { eventTypeToWire } from './event-types.js';
import { tokenToWire } from './token.js';

export function eventListToWire({ events, total }: EventLog) {
  return { version: 1, events: events.map(eventToWire), totalEvents: total };
}

function eventToWire(event: FlagsEvent) {
  return {
    id: event.id,
    type: eventTypeToWire(event.type),
    createdAt: event.at,
    createdBy: event.actor,
    project: event.project,
    featureName: event.flag,
    environment: event.environment,
    data: stateToWire(event.type, event.data),
    preData: stateToWire(event.type, event.before),
  };
}

/** Only of tokens do the words differ. */
function stateToWire(type: FlagsEvent['type'], state: unknown): unknown {
  const isToken = type === 'token-created' || type === 'token-deleted';
  return isToken && state !== null ? tokenToWire(unchecked<Token>(state)) : state;
}
