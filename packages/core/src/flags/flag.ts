import type { FlagRef } from '../base/common.types.js';
import type { DomainEvent } from '../base/domain-event.js';
import { FlagsError } from '../errors.js';
import { findProject } from '../projects/project.js';
import type { SegmentUse } from '../segments/segment.types.js';
import type { Aggregate, Documents, Read, Versioned } from '../storage/documents.js';
import type { Dependency } from './dependency.types.js';
import type { Strategy } from './strategy.types.js';
import type { Variant } from './variant.types.js';

/** Replaces the matching item in place, or appends the new one. */
function replaceOrAppend<T>(list: readonly T[], matches: (item: T) => boolean, item: T): readonly T[] {
  const index = list.findIndex(matches);
  return index === -1 ? [...list, item] : list.with(index, item);
}

/** The stored state of a flag: one document. */
export interface FlagState extends FlagMetadata {
  readonly name: string;
  readonly project: string;
  readonly stale: boolean;
  readonly archived: boolean;
  /** ISO 8601. Absent if the flag is not archived. */
  readonly archivedAt?: string;
  readonly createdAt: string;
  readonly variants: readonly Variant[];
  /** Environments that have been configured, in the order of their first configuration. */
  readonly environments: readonly EnvironmentState[];
  /** In the order of their addition. */
  readonly dependencies: readonly Dependency[];
}

export interface FlagMetadata {
  readonly description: string | null;
  readonly type: string;
  readonly impressionData: boolean;
  /** In the order of the caller. */
  readonly labels: readonly string[];
  readonly owner: string | null;
}

/** The members that `flag-updated` changes. */
export const METADATA = [
  'description',
  'type',
  'impressionData',
  'labels',
  'owner',
] as const satisfies readonly (keyof FlagMetadata)[];

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
  /** The environments in which the flag is enabled, or was before. */
  readonly enabledIn: readonly string[];
}

/** The flag without its environments. */
export type FlagHead = Pick<FlagState, 'name' | 'project' | 'stale' | 'archived' | 'createdAt' | 'variants'> &
  FlagMetadata;

interface Variants {
  readonly variants: readonly Variant[];
}

export type FlagEvent =
  | DomainEvent<'flag-created', FlagState, null>
  | DomainEvent<'flag-updated', FlagHead, FlagHead>
  | DomainEvent<'flag-stale-on' | 'flag-stale-off', Stale, Stale>
  | DomainEvent<'flag-archived', Archived & { readonly archivedAt: string }, Archived>
  | DomainEvent<'flag-revived', Archived, Archived>
  | DomainEvent<'flag-deleted', null, FlagState>
  | DomainEvent<'flag-moved', Pick<FlagState, 'project'>, Pick<FlagState, 'project'>>
  | DomainEvent<'variants-updated', Variants, Variants>
  | DomainEvent<'dependency-added', Dependency, null>
  | DomainEvent<'dependency-updated', Dependency, Dependency>
  | DomainEvent<'dependency-removed', null, Dependency>
  | StrategyEvent<'strategy-added', Strategy, null>
  | StrategyEvent<'strategy-updated', Strategy, Strategy>
  | StrategyEvent<'strategy-removed', null, Strategy>
  | EnvironmentEvent<'environment-enabled'>
  | EnvironmentEvent<'environment-disabled'>;

/** Applies an event. Returns undefined for a deleted flag. */
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
      return withMetadata(flag, event.data);
    case 'flag-stale-on':
    case 'flag-stale-off':
    case 'flag-moved':
    case 'variants-updated':
      return { ...flag, ...event.data };
    case 'flag-archived':
      return { ...flag, archived: true, archivedAt: event.data.archivedAt };
    case 'flag-revived':
      return reviveState(flag);
    case 'dependency-added':
    case 'dependency-updated':
      return { ...flag, dependencies: withDependency(flag, event.data) };
    case 'dependency-removed':
      return { ...flag, dependencies: flag.dependencies.filter(({ flag }) => flag !== event.before.flag) };
    default:
      return evolveEnvironment(flag, event);
  }
}

function withDependency(flag: FlagState, dependency: Dependency): readonly Dependency[] {
  return replaceOrAppend(flag.dependencies, (one) => one.flag === dependency.flag, dependency);
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

/** Applies only the metadata; the event contains the other members for information. */
function withMetadata(flag: FlagState, update: FlagHead): FlagState {
  return { ...flag, ...Object.fromEntries(METADATA.map((member) => [member, update[member]])) };
}

function reviveState({ archivedAt: _archivedAt, ...flag }: FlagState): FlagState {
  return { ...flag, archived: false, environments: flag.environments.map(disableEnvironment) };
}

function disableEnvironment(environment: EnvironmentState): EnvironmentState {
  return { ...environment, enabled: false };
}

/** Returns the flag's configuration in an environment: disabled and without strategies if it was never configured. */
export function environmentOf(flag: FlagState, name: string): EnvironmentState {
  return flag.environments.find((environment) => environment.name === name) ?? { name, enabled: false, strategies: [] };
}

/** The sort order of a strategy without `sortOrder`, as in Unleash. */
const DEFAULT_SORT_ORDER = 9999;

/** Like {@link environmentOf}, with the strategies in the order of evaluation. */
export function orderedEnvironmentOf(flag: FlagState, name: string): EnvironmentState {
  const environment = environmentOf(flag, name);
  const strategies = inOrder(environment.strategies);
  return strategies === environment.strategies ? environment : { ...environment, strategies };
}

/** Returns stored strategies in the order of evaluation. */
export function inOrder(strategies: readonly Strategy[]): readonly Strategy[] {
  if (strategies.every(({ sortOrder }) => sortOrder === undefined)) return strategies;
  return [...strategies].sort(bySortOrder);
}

function bySortOrder(one: Strategy, other: Strategy): number {
  return (one.sortOrder ?? DEFAULT_SORT_ORDER) - (other.sortOrder ?? DEFAULT_SORT_ORDER);
}

/** Returns the names of the environments in which the flag is enabled. */
export function enabledEnvironments(flag: FlagState): readonly string[] {
  return flag.environments.filter(({ enabled }) => enabled).map(({ name }) => name);
}

/** Returns the ids of all segments that the flag's strategies use, without duplicates. */
export function segmentsOf(flag: FlagState): readonly number[] {
  const ids = new Set<number>();
  for (const { strategies } of flag.environments) {
    for (const { segments = [] } of strategies) for (const id of segments) ids.add(id);
  }
  return [...ids];
}

/** Returns the flag's strategies that use a segment. */
export function usesOfSegment(flag: FlagState, segment: number): readonly SegmentUse[] {
  return flag.environments.flatMap(({ name, strategies }) =>
    strategies
      .filter(({ segments = [] }) => segments.includes(segment))
      .map(({ id }) => ({ project: flag.project, flag: flag.name, environment: name, strategy: id })),
  );
}

/** Rejects changes of an archived flag. */
export function assertNotArchived(flag: FlagState): void {
  if (!flag.archived) return;
  throw new FlagsError('flag_archived', `The flag ${flag.name} is archived; revive it before changing or copying it.`);
}

/** The summary of a flag in lists. The name is the document's id, the project its parent. */
export interface StoredFlagSummary {
  readonly type: string;
  readonly stale: boolean;
  readonly archived: boolean;
  readonly createdAt: string;
  /** Names of the environments in which the flag is enabled. */
  readonly enabledIn: readonly string[];
  /** Ids of the segments that the flag uses in any environment. */
  readonly segments: readonly number[];
  /** Names of the flags that this flag depends on. */
  readonly parents: readonly string[];
}

export const flagDocuments: Aggregate<FlagState, FlagEvent> = {
  kind: 'flag',
  evolve: evolveFlag,
  parentOf: ({ project }) => project,
  projectOf: ({ project }) => project,
  summarize: (flag): StoredFlagSummary => ({
    type: flag.type,
    stale: flag.stale,
    archived: flag.archived,
    createdAt: flag.createdAt,
    enabledIn: enabledEnvironments(flag),
    segments: segmentsOf(flag),
    parents: flag.dependencies.map((dependency) => dependency.flag),
  }),
};

/** An index entry for a dependency, listed under the parent to find its children. */
export interface DependencyEdge {
  readonly parent: string;
  readonly child: string;
}

export const dependencyEdges: Documents<DependencyEdge> = { kind: 'dependency', parentOf: ({ parent }) => parent };

/** The separator is unambiguous, because names of flags have no spaces. */
export function edgeId({ parent, child }: DependencyEdge): string {
  return `${parent} ${child}`;
}

/** Resolves to the flag of the named project. Rejects with `flag_not_found` or `project_not_found`. */
export async function findFlag(read: Read, ref: FlagRef): Promise<Versioned<FlagState>> {
  const found = await read(flagDocuments, ref.flag);
  if (found && found.state.project === ref.project) return found;
  await findProject(read, ref);
  return throwFlagNotFound(ref.flag, ` in the project ${ref.project}`);
}

export function throwFlagNotFound(flag: string, where = ''): never {
  throw new FlagsError('flag_not_found', `There is no flag ${flag}${where}; create it, or list the flags.`);
}
