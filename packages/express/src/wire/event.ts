import type { Dependency, Flag, FlagsEvent, Token } from '@flags/core';
import type { JsonChunks } from '../chunks.js';
import { jsonObject } from '../json-chunks.js';
import { unchecked } from '../unchecked.js';
import { dependencyToWire } from './dependency.js';
import { eventTypeToWire } from './event-types.js';
import { flagToWire } from './flag.js';
import { tokenToWire } from './token.js';

export function eventListToWire(events: JsonChunks, total: number) {
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
    data: stateToWire(event.type, event.data),
    preData: stateToWire(event.type, event.before),
  };
}

/** Tokens, dependencies and flags have other words on the wire. */
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
    default:
      return state;
  }
}

/** The whole flag; an event of release 0.1 holds the changed members only, and keeps its form. */
function flagUpdateToWire(state: Partial<Flag>) {
  return state.name === undefined ? state : flagToWire(unchecked<Flag>(state));
}

function flagStateToWire(state: { readonly dependencies?: readonly Dependency[] }) {
  return { ...state, ...(state.dependencies && { dependencies: state.dependencies.map(dependencyToWire) }) };
}
