import type { Constraint, Payload } from '../../evaluation/definitions.types.js';
import type { FlagsEvent } from '../../kernel/log/event.types.js';
import { type EventType, WIRE_NAMES, type WireEventType } from '../../words/event-names.js';
import type { Dependency } from '../flags/dependency.types.js';
import { membersOf } from '../flags/flag.js';
import type { Flag, FlagDetail } from '../flags/flag.types.js';
import type { Strategy } from '../flags/strategy.types.js';
import type { StrategyRollout } from '../flags/strategy-rollout.types.js';
import type { Variant } from '../flags/variant.types.js';
import type { Token } from '../tokens/token.types.js';

/*
 * What the HTTP API shows of events, and of the states in them. Here, because webhooks send events in the same form.
 */

export function eventTypeToWire(type: EventType): WireEventType {
  return WIRE_NAMES[type];
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
    origin: event.origin,
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
      return tokenToWire(state as Token);
    case 'dependency-added':
    case 'dependency-updated':
    case 'dependency-removed':
      return dependencyToWire(state as Dependency);
    case 'flag-created':
    case 'flag-deleted':
      return flagStateToWire(state as { readonly dependencies: readonly Dependency[] });
    case 'flag-updated':
      return flagToWire(state as Flag);
    case 'strategy-added':
    case 'strategy-updated':
    case 'strategy-removed':
      return strategyToWire(state as Strategy);
    case 'rollout-started':
    case 'rollout-stepped':
    case 'rollout-paused':
    case 'rollout-resumed':
    case 'rollout-ended':
      return withRolloutToWire(state as { readonly rollout?: StrategyRollout | null });
    default:
      return state;
  }
}

function flagStateToWire(state: { readonly dependencies: readonly Dependency[] }) {
  return { ...state, dependencies: state.dependencies.map(dependencyToWire) };
}

export function strategyToWire(strategy: Strategy) {
  return withRolloutToWire({ ...strategy, constraints: strategy.constraints.map(constraintToWire) });
}

function withRolloutToWire<T extends { readonly rollout?: StrategyRollout | null }>({ rollout, ...rest }: T) {
  return { ...rest, ...(rollout !== undefined && { rollout: rollout && rolloutToWire(rollout) }) };
}

/** Readers need not know the author's id or token. */
export function rolloutToWire<Rollout extends Pick<StrategyRollout, 'author'>>({ author, ...rest }: Rollout) {
  return { ...rest, author: { name: author.name } };
}

/** Clients expect `values` in every constraint, even for operators with a single value. */
export function constraintToWire<T extends Pick<Constraint, 'values'>>(constraint: T) {
  return { ...constraint, values: constraint.values ?? [] };
}

type SentVariant = Omit<Variant, 'payload'> & { readonly payload: Payload | undefined };

/** An undefined payload does not appear in the JSON. */
export function variantToWire({ name, weightType, weight, stickiness, payload, overrides }: Variant): SentVariant {
  return { name, weightType, weight, stickiness, payload, overrides };
}

export function dependencyToWire({ flag, enabled, variants }: Dependency) {
  return { feature: flag, enabled, variants };
}

/** Events have no `lastSeenAt`, because the log has no metrics. It is null then. */
export function flagToWire(flag: Omit<Flag, 'revision'> & Partial<Pick<FlagDetail, 'lastSeenAt'>>) {
  const { labels, owner, ...members } = membersOf(flag);
  return {
    name: flag.name,
    project: flag.project,
    ...members,
    archived: flag.archived,
    createdAt: flag.createdAt,
    lastSeenAt: flag.lastSeenAt ?? null,
    variants: flag.variants.length === 0 ? null : flag.variants.map(variantToWire),
    labels,
    owner,
  };
}

/** Older clients read `username` instead of `tokenName`, and `project`, the first of `projects`. */
export function tokenToWire({ id, name, kind, project, projects, environment, createdAt, expiresAt }: Token) {
  return {
    id,
    tokenName: name,
    username: name,
    type: kind,
    project,
    projects,
    environment,
    createdAt,
    expiresAt,
  };
}
