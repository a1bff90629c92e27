import { FlagsError } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { type JsonSchema, text } from '../../base/primitives.js';
import type { Documents } from '../../storage/document-reader.js';
import type { Dependency } from './dependency.types.js';
import type { FlagMembers } from './flag.types.js';
import type { FlagEnvironment, SegmentUse, Strategy } from './strategy.types.js';
import type { StrategyRollout } from './strategy-rollout.types.js';
import type { Variant } from './variant.types.js';

/*
 * The state of a flag, the rows of its members, and what follows from a state.
 */

/** The stored state of a flag: one document. */
export interface FlagState extends FlagMembers {
  readonly name: string;
  readonly project: string;
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

type NewFlagState = Pick<FlagState, 'name' | 'project' | 'createdAt'> & Partial<FlagMembers>;

/** Returns the state of a new flag, which is off everywhere. */
export function newFlagState({ name, project, createdAt, ...given }: NewFlagState): FlagState {
  const { labels, owner, ...members } = membersOf(given);
  return {
    name,
    project,
    ...members,
    archived: false,
    createdAt,
    variants: [],
    dependencies: [],
    environments: [],
    labels,
    owner,
  };
}

/** `enabled` implies at least one strategy. */
export interface EnvironmentState {
  readonly name: string;
  readonly enabled: boolean;
  readonly strategies: readonly Strategy[];
  /** By the strategy's id. Absent while none of them rolls out. */
  readonly rollouts?: Readonly<Record<string, StrategyRollout>>;
}

/** The flag without its environments. */
export type FlagHead = Pick<FlagState, 'name' | 'project' | 'archived' | 'createdAt' | 'variants'> & FlagMembers;

/** Returns the flag's configuration in an environment: disabled and without strategies if it was never configured. */
export function environmentOf(flag: FlagState, name: string): EnvironmentState {
  return flag.environments.find((environment) => environment.name === name) ?? { name, enabled: false, strategies: [] };
}

/** Returns the rollout of a strategy; undefined if its percentage does not change in steps. */
export function rolloutOf({ rollouts = {} }: EnvironmentState, strategy: string): StrategyRollout | undefined {
  return Object.hasOwn(rollouts, strategy) ? rollouts[strategy] : undefined;
}

/** A rollout and its strategy. */
export interface PlacedRollout {
  readonly environment: string;
  /** The strategy's id. */
  readonly strategy: string;
  readonly rollout: StrategyRollout;
}

/** Returns all rollouts of a flag. */
export function rolloutsIn({ environments }: FlagState): readonly PlacedRollout[] {
  return environments.flatMap(({ name: environment, rollouts = {} }) =>
    Object.entries(rollouts).map(([strategy, rollout]) => ({ environment, strategy, rollout })),
  );
}

/** Returns the environment as the API shows it: each rollout is a member of its strategy. */
export function shownEnvironmentOf(flag: FlagState, name: string): FlagEnvironment {
  const { rollouts, ...environment } = orderedEnvironmentOf(flag, name);
  if (!rollouts) return environment;
  return { ...environment, strategies: environment.strategies.map((one) => withRollout(one, rollouts)) };
}

/** Returns the strategy as the API shows it: with its rollout. */
export function withRollout(strategy: Strategy, rollouts: EnvironmentState['rollouts'] = {}): Strategy {
  const rollout = Object.hasOwn(rollouts, strategy.id) ? rollouts[strategy.id] : undefined;
  return rollout ? { ...strategy, rollout } : strategy;
}

/** The sort order of a strategy without `sortOrder`, as in Unleash. */
const DEFAULT_SORT_ORDER = 9999;

/** Like {@link environmentOf}, with the strategies in the order of evaluation. */
export function orderedEnvironmentOf(flag: FlagState, name: string): EnvironmentState {
  const environment = environmentOf(flag, name);
  const strategies = sortStrategies(environment.strategies);
  return strategies === environment.strategies ? environment : { ...environment, strategies };
}

/** Returns stored strategies in the order of evaluation. */
export function sortStrategies(strategies: readonly Strategy[]): readonly Strategy[] {
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

/** One member of a flag, for the code that handles all of them. */
interface FlagMember<Value> {
  /** The value in a new flag, and in a flag that was stored before the member existed. */
  readonly initial: Value;
  /** The schema of an input. Replies show the types, without the limits. */
  readonly schema: JsonSchema;
  /** The value after a JSON Patch has removed the member. Absent: a patch cannot remove it. */
  readonly removed?: Value;
  /** The search for a text looks here, too. */
  readonly isSearched?: true;
}

/**
 * The members of a flag that its creation and `updateFlag` set. Inputs, definitions, events, replies, patches and the
 * search for a text follow from these rows.
 */
export const FLAG_MEMBERS: { readonly [Name in keyof FlagMembers]: FlagMember<FlagMembers[Name]> } = {
  description: {
    initial: '',
    schema: { type: ['string', 'null'], maxLength: LIMITS.description },
    removed: null,
    isSearched: true,
  },
  // Which types there are is a setting. A host without this one prefers its first type.
  type: { initial: 'release', schema: { type: 'string' } },
  stale: { initial: false, schema: { type: 'boolean' } },
  impressionData: { initial: false, schema: { type: 'boolean' } },
  labels: {
    initial: Object.freeze([]),
    schema: { type: 'array', maxItems: LIMITS.labelsPerFlag, items: text(LIMITS.flagLabel) },
    removed: Object.freeze([]),
    isSearched: true,
  },
  owner: {
    initial: null,
    schema: { ...text(LIMITS.owner), type: ['string', 'null'] },
    removed: null,
    isSearched: true,
  },
};

export const FLAG_MEMBER_NAMES = Object.keys(FLAG_MEMBERS) as readonly (keyof FlagMembers)[];

/** The members that `createFlag` takes and `flag-updated` changes: staleness has events of its own. */
export const METADATA = FLAG_MEMBER_NAMES.filter((name) => name !== 'stale');

/** Returns the members of a flag. Absent ones have their initial values. */
export function membersOf(flag: Partial<FlagMembers>): FlagMembers {
  const members: Partial<Record<keyof FlagMembers, unknown>> = {};
  for (const name of FLAG_MEMBER_NAMES) {
    const value = flag[name];
    members[name] = value === undefined ? FLAG_MEMBERS[name].initial : value;
  }
  return members as FlagMembers;
}

/** Returns the schemas of the members in inputs. */
export function memberSchemas(): Readonly<Record<keyof FlagMembers, JsonSchema>> {
  const schemas = Object.entries(FLAG_MEMBERS).map(([name, { schema }]) => [name, schema] as const);
  return Object.fromEntries(schemas) as Record<keyof FlagMembers, JsonSchema>;
}

const SEARCHED = FLAG_MEMBER_NAMES.filter((name) => FLAG_MEMBERS[name].isSearched);

/** Whether a member of a flag that is searched contains a text of lower-case letters. */
export function isTextInMembers(flag: FlagMembers, text: string): boolean {
  return SEARCHED.some((name) => {
    const value: unknown = flag[name];
    return Array.isArray(value) ? value.some((item) => contains(item, text)) : contains(value, text);
  });
}

function contains(value: unknown, text: string): boolean {
  return typeof value === 'string' && value.toLowerCase().includes(text);
}
