import type { FlagRef, ProjectRef } from '../../base/common.types.js';
import type { DomainEvent } from '../../base/domain-event.js';
import { FlagsError } from '../../base/errors.js';
import { pickPresent } from '../../base/json.js';
import type { Constraint } from '../../evaluation/definitions.types.js';
import {
  type ActionOf,
  type ChangedPart,
  describeEvents,
  type EventDescription,
  type Kind,
  memberParts,
  wholePart,
} from '../../kernel/kind.js';
import type { Documents, Read, Versioned } from '../../storage/document-reader.js';
import type { Dependency } from './dependency.types.js';
import {
  type EnvironmentState,
  enabledEnvironments,
  environmentOf,
  type FlagHead,
  type FlagState,
  METADATA,
  segmentsOf,
} from './flag.js';
import type { Strategy } from './strategy.types.js';
import type { RolloutEndReason, StrategyRollout } from './strategy-rollout.types.js';
import type { Variant } from './variant.types.js';

/*
 * Flags as documents: their events, what each event needs, and the state after it.
 */

interface EnvironmentEvent<Type extends 'environment-enabled' | 'environment-disabled'>
  extends DomainEvent<Type, { readonly enabled: boolean }, { readonly enabled: boolean }> {
  readonly environment: string;
}

interface StrategyEvent<Type extends 'strategy-added' | 'strategy-updated' | 'strategy-removed', Data, Before>
  extends DomainEvent<Type, Data, Before> {
  readonly environment: string;
}

/** The rollout of a strategy; null after its end. */
interface Rolling<Rollout extends StrategyRollout | null = StrategyRollout> {
  /** The strategy's id. */
  readonly strategy: string;
  readonly rollout: Rollout;
}

/** A person took the step before its hold was over. */
interface Early {
  readonly early?: true;
}

interface RolloutEvent<Type extends `rollout-${string}`, Data, Before> extends DomainEvent<Type, Data, Before> {
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
  | EnvironmentEvent<'environment-disabled'>
  | RolloutEvent<'rollout-started', Rolling, null>
  | RolloutEvent<'rollout-stepped', Rolling & Early, Rolling>
  | RolloutEvent<'rollout-paused' | 'rollout-resumed', Rolling, Rolling>
  | RolloutEvent<'rollout-ended', Rolling<null> & Early & { readonly reason: RolloutEndReason }, Rolling>;

/** Replaces the matching item in place, or appends the new one. */
function replaceOrAppend<T>(list: readonly T[], matches: (item: T) => boolean, item: T): readonly T[] {
  const index = list.findIndex(matches);
  return index === -1 ? [...list, item] : list.with(index, item);
}

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
    case 'rollout-started':
    case 'rollout-stepped':
    case 'rollout-paused':
    case 'rollout-resumed':
    case 'rollout-ended':
      return evolveRollouts(environment, event.data);
  }
}

function evolveRollouts(
  { rollouts = {}, ...environment }: EnvironmentState,
  { strategy, rollout }: { readonly strategy: string; readonly rollout: StrategyRollout | null },
): EnvironmentState {
  const { [strategy]: _before, ...others } = rollouts;
  const next = rollout ? { ...others, [strategy]: rollout } : others;
  return Object.keys(next).length > 0 ? { ...environment, rollouts: next } : environment;
}

/** Applies only the metadata; the event contains the other members for information. */
function withMetadata(flag: FlagState, update: FlagHead): FlagState {
  return { ...flag, ...pickPresent(update, METADATA) };
}

function reviveState({ archivedAt: _archivedAt, ...flag }: FlagState): FlagState {
  return { ...flag, archived: false, environments: flag.environments.map(disableEnvironment) };
}

function disableEnvironment(environment: EnvironmentState): EnvironmentState {
  return { ...environment, enabled: false };
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

const dependencyPart = ({ data, before }: Pick<FlagEvent, 'data' | 'before'>, { flag }: Dependency): ChangedPart[] => [
  wholePart(['dependencies', flag], { data, before }),
];

function strategyPart({ environment, data, before }: StrategyFact, { id }: Strategy): readonly ChangedPart[] {
  return [wholePart(['environments', environment, 'strategies', id], { data, before })];
}

type StrategyFact = Extract<FlagEvent, { readonly environment: string }>;

function switchPart(environment: string, before: boolean, after: boolean): ChangedPart {
  return { path: ['environments', environment, 'enabled'], before, after };
}

function rolloutPart({ environment, data, before }: RolloutFact): readonly ChangedPart[] {
  // A store from before has events of these names about other documents.
  if (typeof environment !== 'string' || !('rollout' in data)) return memberParts({ data, before });
  const path = ['environments', environment, 'rollouts', data.strategy];
  return [{ path, before: before?.rollout ?? null, after: data.rollout }];
}

type RolloutFact = Extract<FlagEvent, { readonly type: `rollout-${string}` }>;

/** Completes the refusal of an undo: it restores nothing of these events. */
const UNDO_LEAVES_ROLLOUTS = 'rollouts, which an undo does not restore; start the rollout again, resume or stop it.';

function hasSegments(...strategies: readonly Strategy[]): boolean {
  return strategies.some(({ segments = [] }) => segments.length > 0);
}

const always = () => true;

const flagEvents = describeEvents<FlagEvent>()({
  'flag-created': { parts: memberParts, action: 'createFlag', refers: always, isWhole: true },
  'flag-updated': {
    parts: (event) => memberParts(event, (name) => METADATA.some((member) => member === name)),
    action: 'updateFlag',
  },
  'flag-stale-on': { parts: memberParts, action: 'updateFlag', shrinks: true },
  'flag-stale-off': { parts: memberParts, action: 'updateFlag', shrinks: true },
  'flag-archived': {
    parts: (event) => memberParts(event, (name) => name !== 'enabledIn'),
    action: 'archiveFlag',
    shrinks: true,
  },
  'flag-revived': {
    parts: ({ before }) => [
      { path: ['archived'], before: true, after: false },
      ...before.enabledIn.map((name) => switchPart(name, true, false)),
    ],
    action: 'reviveFlag',
    shrinks: true,
  },
  'flag-deleted': {
    parts: memberParts,
    action: 'deleteFlag',
    shrinks: true,
    refers: always,
    isWhole: true,
    endsUsage: true,
  },
  'flag-moved': { parts: memberParts, action: 'moveFlag', refers: always, moves: true },
  'strategy-added': {
    parts: (event) => strategyPart(event, event.data),
    action: 'addStrategy',
    refers: ({ data }) => hasSegments(data),
  },
  'strategy-updated': {
    parts: (event) => strategyPart(event, event.data),
    action: 'updateStrategy',
    refers: ({ data, before }) => hasSegments(data, before),
  },
  'strategy-removed': {
    parts: (event) => strategyPart(event, event.before),
    action: 'removeStrategy',
    shrinks: true,
    refers: ({ before }) => hasSegments(before),
  },
  'environment-enabled': {
    parts: ({ environment, data, before }) => [switchPart(environment, before.enabled, data.enabled)],
    action: 'enable',
    shrinks: true,
  },
  'environment-disabled': {
    parts: ({ environment, data, before }) => [switchPart(environment, before.enabled, data.enabled)],
    action: 'disable',
    shrinks: true,
  },
  'rollout-started': { parts: rolloutPart },
  'rollout-stepped': { parts: rolloutPart, shrinks: true, cannotUndo: UNDO_LEAVES_ROLLOUTS },
  'rollout-paused': { parts: rolloutPart, shrinks: true, cannotUndo: UNDO_LEAVES_ROLLOUTS },
  'rollout-resumed': { parts: rolloutPart, shrinks: true, cannotUndo: UNDO_LEAVES_ROLLOUTS },
  'rollout-ended': { parts: rolloutPart, shrinks: true, cannotUndo: UNDO_LEAVES_ROLLOUTS },
  'variants-updated': {
    parts: ({ data, before }) => [{ path: ['variants'], before: before.variants, after: data.variants }],
    action: 'setVariants',
  },
  'dependency-added': { parts: (event) => dependencyPart(event, event.data), action: 'addDependency', refers: always },
  'dependency-updated': {
    parts: (event) => dependencyPart(event, event.data),
    action: 'addDependency',
    refers: always,
  },
  'dependency-removed': {
    parts: (event) => dependencyPart(event, event.before),
    action: 'removeDependency',
    shrinks: true,
    refers: always,
  },
});

export const flagDocuments: Kind<FlagState, FlagEvent, ActionOf<typeof flagEvents>> = {
  kind: 'flag',
  events: flagEvents,
  smaller: 'shorten its texts and lists, or move constraints into segments',
  isInProjects: true,
  isInMemory: true,
  isFlag: true,
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

/** Whether an event may add content to a flag. */
export function mayGrow(event: FlagEvent): boolean {
  return flagEvents[event.type].shrinks !== true;
}

/** Whether an event may add or remove a reference to a segment or a parent. */
export function mayRefer(event: FlagEvent): boolean {
  const { refers } = flagEvents[event.type] as EventDescription<FlagEvent>;
  return refers?.(event) ?? false;
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

/*
 * Documents that others refer to, as far as those need to know them. The kinds of projects and segments lie above flags,
 * because their operations read and change flags. They extend these descriptions.
 */

/** A project, as its flags, segments and tokens see it. */
export interface ReferredProject {
  readonly id: string;
}

export const referredProjects: Documents<ReferredProject> = { kind: 'project', parentOf: () => null };

/** Resolves to the project. Rejects with `project_not_found`. */
export async function findProject(read: Read, ref: ProjectRef): Promise<Versioned<ReferredProject>> {
  return (await read(referredProjects, ref.project)) ?? throwProjectNotFound(ref.project);
}

export function throwProjectNotFound(project: string): never {
  throw new FlagsError('project_not_found', `There is no project ${project}; create it, or list the projects.`);
}

/** A segment, as the flags that use it see it. */
export interface ReferredSegment {
  /** Absent if flags of all projects may use the segment. */
  readonly project?: string;
  readonly constraints: readonly Constraint[];
}

export const referredSegments: Documents<ReferredSegment> = {
  kind: 'segment',
  parentOf: ({ project }) => project ?? null,
};

/** Whether clients can see a document of this kind: a flag or a segment. */
export function isVisible({ kind }: { readonly kind: string }): boolean {
  return kind === flagDocuments.kind || kind === referredSegments.kind;
}
