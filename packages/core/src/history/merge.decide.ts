import { isSameJson } from '../base/json.js';
import {
  dependenciesOf,
  type EnvironmentState,
  environmentOf,
  type FlagMetadata,
  type FlagState,
} from '../flags/flag.js';
import type { Strategy } from '../flags/strategy.types.js';
import type { ProjectState } from '../projects/project.js';
import type { Member } from '../projects/project.types.js';
import type { SegmentState } from '../segments/segment.js';
import { toPointer } from './differences.decide.js';

/** The states of a document around a change set, and the current one. Undefined: no document. */
export interface Versions<State> {
  readonly before: State | undefined;
  readonly after: State | undefined;
  readonly now: State | undefined;
}

/** The state that takes back a change set and keeps all later changes of other parts. */
export interface Merge<State> {
  readonly target: State | undefined;
  /** JSON Pointers to the parts that the set changed, and that were changed again since then. Empty text: the document. */
  readonly conflicts: readonly string[];
}

/**
 * Merges one part. Returns the part before if it is as the set has left it, since its JSON text may differ, and the current
 * part otherwise.
 */
type MergePart = <T>(path: string, before: T, after: T, now: T) => T;

function createMerger(): { readonly part: MergePart; readonly conflicts: string[] } {
  const conflicts: string[] = [];
  return {
    conflicts,
    part(path, before, after, now) {
      if (isSameJson(now, after)) return before;
      if (isSameJson(before, after)) return now;
      conflicts.push(path);
      return before;
    },
  };
}

/**
 * Merges documents whose existence the set has changed, and documents that are gone or new since then. Returns undefined if
 * all three states are of one document.
 */
function mergeExistence<State extends { readonly createdAt: string }>(
  { before, after, now }: Versions<State>,
  toComparable: (state: State) => unknown = (state) => state,
): Merge<State> | undefined {
  const comparable = (state: State | undefined) => state && toComparable(state);
  if (before && after && now && new Set([before, after, now].map(({ createdAt }) => createdAt)).size === 1) {
    return undefined;
  }
  if (isSameJson(comparable(before), comparable(after))) return { target: now, conflicts: [] };
  const isUnchanged = isSameJson(comparable(now), comparable(after));
  return { target: before, conflicts: isUnchanged ? [] : [''] };
}

const METADATA = [
  'description',
  'type',
  'impressionData',
  'labels',
  'owner',
] as const satisfies readonly (keyof FlagMetadata)[];

export function mergeFlag(versions: Versions<FlagState>): Merge<FlagState> {
  const moved = mergeExistence(versions, toComparableFlag);
  const { before, after, now } = versions;
  if (moved || !before || !after || !now) return moved ?? { target: now, conflicts: [] };
  const { part, conflicts } = createMerger();
  const metadata = METADATA.map((name) => [name, part<unknown>(`/${name}`, before[name], after[name], now[name])]);
  const target = withLayoutOf(before, {
    ...now,
    ...(Object.fromEntries(metadata) as FlagMetadata),
    stale: part('/stale', before.stale, after.stale, now.stale),
    project: part('/project', before.project, after.project, now.project),
    variants: part('/variants', before.variants, after.variants, now.variants),
    dependencies: part('/dependencies', dependenciesOf(before), dependenciesOf(after), dependenciesOf(now)),
    ...part('/archived', toArchiving(before), toArchiving(after), toArchiving(now)),
    environments: mergeEnvironments(part, { before, after, now }),
  });
  return { target, conflicts };
}

function toArchiving({ archived, archivedAt }: FlagState) {
  return { archived, archivedAt };
}

/** Puts the members in their order of before. Omits members without a value, and empty ones that were not stored then. */
function withLayoutOf<State extends object>(before: State, merged: { readonly [Name in keyof State]: unknown }): State {
  const entries = Object.entries<unknown>({ ...before, ...merged }).filter(([name, value]) => {
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0);
    return value !== undefined && (!isEmpty || Object.hasOwn(before, name));
  });
  return Object.fromEntries(entries) as State;
}

/** Two flags that clients see alike are equal. Older flags have environments without strategies and switch. */
function toComparableFlag(flag: FlagState): unknown {
  const environments = flag.environments.filter(({ enabled, strategies }) => enabled || strategies.length > 0);
  const byName = environments.map((environment) => [environment.name, environment] as const);
  return { ...flag, dependencies: dependenciesOf(flag), environments: Object.fromEntries(byName) };
}

type AllVersions<State> = { readonly [Name in keyof Versions<State>]: State };

function mergeEnvironments(
  part: MergePart,
  { before, after, now }: AllVersions<FlagState>,
): readonly EnvironmentState[] {
  const names = new Set([before, now, after].flatMap(({ environments }) => environments.map(({ name }) => name)));
  const known = new Set(before.environments.map(({ name }) => name));
  const merged = [...names].map((name) => {
    const [from, to, current] = [before, after, now].map((flag) => environmentOf(flag, name)) as [
      EnvironmentState,
      EnvironmentState,
      EnvironmentState,
    ];
    const path = ['environments', name];
    const strategies = mergeStrategies(part, [...path, 'strategies'], {
      before: from.strategies,
      after: to.strategies,
      now: current.strategies,
    });
    const enabled = part(toPointer([...path, 'enabled']), from.enabled, to.enabled, current.enabled);
    // As after the removal of the last strategy: enabled implies a strategy.
    return { ...current, enabled: enabled && strategies.length > 0, strategies };
  });
  return merged.filter(({ name, strategies }) => strategies.length > 0 || known.has(name));
}

type Strategies = readonly Strategy[];

/** Merges each strategy by its id, then their order. */
function mergeStrategies(
  part: MergePart,
  path: readonly string[],
  { before, after, now }: AllVersions<Strategies>,
): Strategies {
  const [from, to, current] = [before, after, now].map(byId) as [StrategyMap, StrategyMap, StrategyMap];
  const merged = new Map<string, Strategy>();
  for (const id of new Set([...from.keys(), ...to.keys(), ...current.keys()])) {
    const strategy = part(toPointer([...path, id]), from.get(id), to.get(id), current.get(id));
    if (strategy) merged.set(id, strategy);
  }
  const shared = (map: StrategyMap) => [...map.keys()].filter((id) => from.has(id) && to.has(id) && current.has(id));
  const order = part(toPointer(path), shared(from), shared(to), shared(current));
  return arrange([...merged.keys()], { current: [...current.keys()], before: [...from.keys()], order }).flatMap(
    (id) => merged.get(id) ?? [],
  );
}

type StrategyMap = ReadonlyMap<string, Strategy>;

function byId(strategies: Strategies): StrategyMap {
  return new Map(strategies.map((strategy) => [strategy.id, strategy]));
}

interface Order {
  readonly current: readonly string[];
  readonly before: readonly string[];
  /** The order of the strategies that all versions have. */
  readonly order: readonly string[];
}

/** Keeps the current places, and puts each restored strategy behind its predecessor of before. */
function arrange(ids: readonly string[], { current, before, order }: Order): readonly string[] {
  const wanted = new Set(ids);
  const shared = new Set(order);
  const next = order[Symbol.iterator]();
  const arranged = current
    .filter((id) => wanted.has(id))
    .map((id) => (shared.has(id) ? ((next.next().value as string | undefined) ?? id) : id));
  for (const [index, id] of before.entries()) {
    if (!wanted.has(id) || arranged.includes(id)) continue;
    const predecessor = before.slice(0, index).findLast((earlier) => arranged.includes(earlier));
    arranged.splice(predecessor === undefined ? 0 : arranged.indexOf(predecessor) + 1, 0, id);
  }
  return arranged;
}

export function mergeProject(versions: Versions<ProjectState>): Merge<ProjectState> {
  const moved = mergeExistence(versions);
  const { before, after, now } = versions;
  if (moved || !before || !after || !now) return moved ?? { target: now, conflicts: [] };
  const { part, conflicts } = createMerger();
  const [from, to, current] = [before, after, now].map(membersOf) as [MemberMap, MemberMap, MemberMap];
  const users = [...new Set([...from.keys(), ...to.keys(), ...current.keys()])].sort((one, other) => one - other);
  const target = {
    ...now,
    name: part('/name', before.name, after.name, now.name),
    description: part('/description', before.description, after.description, now.description),
    members: users.flatMap((id) => part(`/members/${id}`, from.get(id), to.get(id), current.get(id)) ?? []),
  };
  return { target, conflicts };
}

type MemberMap = ReadonlyMap<number, Member>;

function membersOf({ members }: ProjectState): MemberMap {
  return new Map(members.map((member) => [member.userId, member]));
}

export function mergeSegment(versions: Versions<SegmentState>): Merge<SegmentState> {
  const moved = mergeExistence(versions);
  const { before, after, now } = versions;
  if (moved || !before || !after || !now) return moved ?? { target: now, conflicts: [] };
  const { part, conflicts } = createMerger();
  const target = withLayoutOf(before, {
    ...now,
    name: part('/name', before.name, after.name, now.name),
    description: part('/description', before.description, after.description, now.description),
    constraints: part('/constraints', before.constraints, after.constraints, now.constraints),
    project: part('/project', before.project, after.project, now.project),
  });
  return { target, conflicts };
}
