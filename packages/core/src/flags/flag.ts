import type { DomainEvent } from '../events/event.types.js';
import type { SegmentUse } from '../segments/segment.types.js';
import type { Dependency } from './dependency.types.js';
import type { Strategy } from './strategy.types.js';
import type { Variant } from './variant.types.js';

/** The list with the item that matches replaced in place, or with the new one at its end. */
export function replaceOrAppend<T>(list: readonly T[], matches: (item: T) => boolean, item: T): readonly T[] {
  const index = list.findIndex(matches);
  return index === -1 ? [...list, item] : list.with(index, item);
}

/** A flag as it is stored: one document. */
export interface FlagState extends FlagMetadata {
  readonly name: string;
  readonly project: string;
  readonly stale: boolean;
  readonly archived: boolean;
  /** ISO 8601; absent in a flag that is not archived, or that release 0.1 has archived. */
  readonly archivedAt?: string;
  readonly createdAt: string;
  readonly variants: readonly Variant[];
  /** Only environments in which something was ever configured, in the order in which that happened. */
  readonly environments: readonly EnvironmentState[];
  /** Absent in a flag that never had any; read it by {@link dependenciesOf}. */
  readonly dependencies?: readonly Dependency[];
}

export interface FlagMetadata {
  readonly description: string | null;
  readonly type: string;
  readonly impressionData: boolean;
}

/** `enabled` implies at least one strategy. */
export interface EnvironmentState {
  readonly name: string;
  readonly enabled: boolean;
  readonly strategies: readonly Strategy[];
}

interface EnvironmentEvent<Type extends 'environment-enabled' | 'environment-disabled'>
  extends DomainEvent<Type, { readonly enabled: boolean }, { readonly enabled: boolean }> {
  readonly environment: string;
}

interface StrategyEvent<Type extends 'strategy-added' | 'strategy-updated' | 'strategy-removed', Data, Before>
  extends DomainEvent<Type, Data, Before> {
  readonly environment: string;
}

interface Stale {
  readonly stale: boolean;
}

interface Archived {
  readonly archived: boolean;
  /** The environments in which the flag is, or was, on. */
  readonly enabledIn: readonly string[];
  /** When it was archived, ISO 8601; events of release 0.1 do not have it. */
  readonly archivedAt?: string;
}

/** The flag without its environments. Events of release 0.1 hold the changed metadata only. */
export type FlagUpdate = Partial<FlagMetadata> & Partial<FlagHead>;

interface FlagHead
  extends Pick<FlagState, 'name' | 'project' | 'stale' | 'archived' | 'createdAt' | 'variants'>,
    FlagMetadata {
  readonly lastSeenAt: string | null;
}

interface Variants {
  readonly variants: readonly Variant[];
}

export type FlagEvent =
  | DomainEvent<'flag-created', FlagState, null>
  | DomainEvent<'flag-updated', FlagUpdate, FlagUpdate>
  | DomainEvent<'flag-stale-on' | 'flag-stale-off', Stale, Stale>
  | DomainEvent<'flag-archived' | 'flag-revived', Archived, Archived>
  | DomainEvent<'flag-deleted', null, FlagState>
  | DomainEvent<'variants-updated', Variants, Variants>
  | DomainEvent<'dependency-added', Dependency, null>
  | DomainEvent<'dependency-updated', Dependency, Dependency>
  | DomainEvent<'dependency-removed', null, Dependency>
  | StrategyEvent<'strategy-added', Strategy, null>
  | StrategyEvent<'strategy-updated', Strategy, Strategy>
  | StrategyEvent<'strategy-removed', null, Strategy>
  | EnvironmentEvent<'environment-enabled'>
  | EnvironmentEvent<'environment-disabled'>;

/** The flag after an event; undefined once it is deleted. */
export function evolveFlag(flag: FlagState | undefined, event: FlagEvent): FlagState | undefined {
  if (event.type === 'flag-created') return event.data;
  return flag && evolveExisting(flag, event);
}

type LaterEvent = Exclude<FlagEvent, { readonly type: 'flag-created' }>;

function evolveExisting(flag: FlagState, event: LaterEvent): FlagState | undefined {
  switch (event.type) {
    case 'flag-deleted':
      return undefined;
    case 'flag-updated':
      return { ...flag, ...metadataOf(event.data) };
    case 'flag-stale-on':
    case 'flag-stale-off':
    case 'variants-updated':
      return { ...flag, ...event.data };
    case 'flag-archived':
      return { ...flag, archived: true, ...(event.data.archivedAt && { archivedAt: event.data.archivedAt }) };
    case 'flag-revived':
      return reviveState(flag);
    case 'dependency-added':
    case 'dependency-updated':
      return { ...flag, dependencies: withDependency(flag, event.data) };
    case 'dependency-removed':
      return { ...flag, dependencies: dependenciesOf(flag).filter(({ flag }) => flag !== event.before.flag) };
    default:
      return evolveEnvironment(flag, event);
  }
}

function withDependency(flag: FlagState, dependency: Dependency): readonly Dependency[] {
  return replaceOrAppend(dependenciesOf(flag), (one) => one.flag === dependency.flag, dependency);
}

function evolveEnvironment(flag: FlagState, event: Extract<LaterEvent, { environment: string }>): FlagState {
  const environment = environmentOf(flag, event.environment);
  const isSame = ({ name }: EnvironmentState) => name === event.environment;
  return {
    ...flag,
    environments: replaceOrAppend(flag.environments, isSame, evolveEnvironmentState(environment, event)),
  };
}

function evolveEnvironmentState(
  environment: EnvironmentState,
  event: Extract<LaterEvent, { environment: string }>,
): EnvironmentState {
  const { strategies } = environment;
  switch (event.type) {
    case 'environment-enabled':
    case 'environment-disabled':
      return { ...environment, enabled: event.data.enabled };
    case 'strategy-added':
      return { ...environment, strategies: [...strategies, event.data] };
    case 'strategy-updated':
      return { ...environment, strategies: strategies.map((one) => (one.id === event.data.id ? event.data : one)) };
    case 'strategy-removed':
      return { ...environment, strategies: strategies.filter((one) => one.id !== event.before.id) };
  }
}

/** The rest of such an event tells of the flag, and changes nothing. */
function metadataOf({ description, type, impressionData }: FlagUpdate): Partial<FlagMetadata> {
  return {
    ...(description !== undefined && { description }),
    ...(type !== undefined && { type }),
    ...(impressionData !== undefined && { impressionData }),
  };
}

function reviveState({ archivedAt: _archivedAt, ...flag }: FlagState): FlagState {
  return { ...flag, archived: false, environments: flag.environments.map(disableEnvironment) };
}

function disableEnvironment(environment: EnvironmentState): EnvironmentState {
  return { ...environment, enabled: false };
}

/** The flag's configuration in an environment: off and without strategies until something is configured. */
export function environmentOf(flag: FlagState, name: string): EnvironmentState {
  return flag.environments.find((environment) => environment.name === name) ?? { name, enabled: false, strategies: [] };
}

/** What a strategy without `sortOrder` counts as, as in Unleash. */
const DEFAULT_SORT_ORDER = 9999;

/** The same with its strategies in the order in which they are shown and evaluated. */
export function orderedEnvironmentOf(flag: FlagState, name: string): EnvironmentState {
  const environment = environmentOf(flag, name);
  if (environment.strategies.every(({ sortOrder }) => sortOrder === undefined)) return environment;
  return { ...environment, strategies: [...environment.strategies].sort(bySortOrder) };
}

function bySortOrder(one: Strategy, other: Strategy): number {
  return (one.sortOrder ?? DEFAULT_SORT_ORDER) - (other.sortOrder ?? DEFAULT_SORT_ORDER);
}

/** What the flag depends on, in the order in which it was added. */
export function dependenciesOf({ dependencies = [] }: FlagState): readonly Dependency[] {
  return dependencies;
}

/** The names of the environments in which the flag is on. */
export function enabledEnvironments(flag: FlagState): readonly string[] {
  return flag.environments.filter(({ enabled }) => enabled).map(({ name }) => name);
}

/** The ids of the segments that a flag's strategies use in any environment, each once. */
export function segmentsOf(flag: FlagState): readonly number[] {
  const ids = new Set<number>();
  for (const { strategies } of flag.environments) {
    for (const { segments = [] } of strategies) for (const id of segments) ids.add(id);
  }
  return [...ids];
}

/** The strategies of a flag that use a segment. */
export function usesOfSegment(flag: FlagState, segment: number): readonly SegmentUse[] {
  return flag.environments.flatMap(({ name, strategies }) =>
    strategies
      .filter(({ segments = [] }) => segments.includes(segment))
      .map(({ id }) => ({ project: flag.project, flag: flag.name, environment: name, strategy: id })),
  );
}
