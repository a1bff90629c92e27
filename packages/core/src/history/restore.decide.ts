import { isSameJson, isSameText, pickChanged } from '../base/json.js';
import {
  dependenciesOf,
  type EnvironmentState,
  enabledEnvironments,
  environmentOf,
  evolveFlag,
  type FlagEvent,
  type FlagMetadata,
  type FlagState,
  layoutOf,
} from '../flags/flag.js';
import { changeStale, toUpdate } from '../flags/metadata.decide.js';
import type { ProjectEvent, ProjectMetadata, ProjectState } from '../projects/project.js';
import type { SegmentEvent, SegmentState } from '../segments/segment.js';

/**
 * Returns the events that bring a flag to another state: ids, creation time and switches included. An undefined state is
 * no flag. Decides the difference only: the caller checks the references.
 */
export function restoreFlag(now: FlagState | undefined, target: FlagState | undefined): FlagEvent[] {
  if (!now || !target || now.createdAt !== target.createdAt) {
    const created: FlagEvent[] = target ? [{ type: 'flag-created', data: target, before: null }] : [];
    return now ? [{ type: 'flag-deleted', data: null, before: now }, ...created] : created;
  }
  const names = new Set([...target.environments, ...now.environments].map(({ name }) => name));
  const environments = [...names].map((name) => environmentOf(target, name));
  const steps: readonly ((flag: FlagState) => readonly FlagEvent[])[] = [
    (flag) => restoreRevival(flag, target),
    (flag) => restoreMetadata(flag, target),
    (flag) => changeStale(flag, target.stale),
    (flag) => restoreVariants(flag, target),
    (flag) => restoreDependencies(flag, target),
    ...environments.map((environment) => (flag: FlagState) => restoreStrategies(flag, environment)),
    ...environments.map((environment) => (flag: FlagState) => restoreSwitch(flag, environment)),
    // The references are those of the project that the flag moves to.
    (flag) => restoreProjectOf(flag, target),
    (flag) => restoreArchive(flag, target),
  ];
  const events: FlagEvent[] = [];
  let flag = now;
  for (const step of steps) {
    const own = step(flag);
    events.push(...own);
    flag = own.reduce<FlagState | undefined>(evolveFlag, flag) ?? flag;
  }
  return events;
}

/** Restores what the other events cannot: the order of members and environments, and which empty parts are stored. */
export function restoreLayout(flag: FlagState, target: FlagState): readonly FlagEvent[] {
  const [before, layout] = [layoutOf(flag), layoutOf(target)];
  if (isSameJson(before, layout)) return [];
  const head = toUpdate(flag);
  return [{ type: 'flag-updated', data: { ...head, layout }, before: { ...head, layout: before } }];
}

/** Reviving disables the flag everywhere; the switches follow. */
function restoreRevival(flag: FlagState, target: FlagState): readonly FlagEvent[] {
  if (!flag.archived || target.archived) return [];
  const before = { archived: true, enabledIn: enabledEnvironments(flag) };
  return [{ type: 'flag-revived', data: { archived: false, enabledIn: [] }, before }];
}

const METADATA = [
  'description',
  'type',
  'impressionData',
  'labels',
  'owner',
] as const satisfies readonly (keyof FlagMetadata)[];

function restoreMetadata(flag: FlagState, target: FlagState): readonly FlagEvent[] {
  const changed = pickChanged<FlagMetadata>(flag, target, METADATA);
  const before = toUpdate(flag);
  return changed ? [{ type: 'flag-updated', data: { ...before, ...changed.data }, before }] : [];
}

function restoreVariants({ variants: before }: FlagState, { variants }: FlagState): readonly FlagEvent[] {
  return isSameText(before, variants)
    ? []
    : [{ type: 'variants-updated', data: { variants }, before: { variants: before } }];
}

function restoreDependencies(flag: FlagState, target: FlagState): readonly FlagEvent[] {
  const { removed, added, updated } = compareLists(dependenciesOf(flag), dependenciesOf(target), (one) => one.flag);
  return [
    ...removed.map((before): FlagEvent => ({ type: 'dependency-removed', data: null, before })),
    ...updated.map(([before, data]): FlagEvent => ({ type: 'dependency-updated', data, before })),
    ...added.map((data): FlagEvent => ({ type: 'dependency-added', data, before: null })),
  ];
}

function restoreStrategies(flag: FlagState, { name: environment, strategies }: EnvironmentState): readonly FlagEvent[] {
  const current = environmentOf(flag, environment).strategies;
  const { removed, added, updated } = compareLists(current, strategies, ({ id }) => id);
  return [
    ...updated.map(([before, data]): FlagEvent => ({ type: 'strategy-updated', environment, data, before })),
    ...removed.map((before): FlagEvent => ({ type: 'strategy-removed', environment, data: null, before })),
    ...added.map((data): FlagEvent => ({ type: 'strategy-added', environment, data, before: null })),
  ];
}

function restoreSwitch(flag: FlagState, { name: environment, enabled }: EnvironmentState): readonly FlagEvent[] {
  const before = { enabled: environmentOf(flag, environment).enabled };
  if (before.enabled === enabled) return [];
  return [{ type: enabled ? 'environment-enabled' : 'environment-disabled', environment, data: { enabled }, before }];
}

function restoreProjectOf({ project: from }: FlagState, { project }: FlagState): readonly FlagEvent[] {
  return from === project ? [] : [{ type: 'flag-moved', data: { project }, before: { project: from } }];
}

function restoreArchive(flag: FlagState, { archived, archivedAt }: FlagState): readonly FlagEvent[] {
  if (!archived || (flag.archived && flag.archivedAt === archivedAt)) return [];
  const enabledIn = enabledEnvironments(flag);
  const data = { archived: true, enabledIn, ...(archivedAt !== undefined && { archivedAt }) };
  return [{ type: 'flag-archived', data, before: { archived: flag.archived, enabledIn } }];
}

interface ListChanges<Item> {
  readonly removed: readonly Item[];
  readonly updated: readonly (readonly [before: Item, after: Item])[];
  readonly added: readonly Item[];
}

/** New items are appended. So the items from the first one at a wrong place are removed and added again. */
function compareLists<Item>(
  current: readonly Item[],
  target: readonly Item[],
  keyOf: (item: Item) => string,
): ListChanges<Item> {
  const wanted = new Set(target.map(keyOf));
  const kept = current.filter((item) => wanted.has(keyOf(item)));
  const firstMoved = kept.findIndex((item, index) => keyOf(item) !== (target[index] && keyOf(target[index])));
  const end = firstMoved === -1 ? kept.length : firstMoved;
  const staying = new Set(kept.slice(0, end));
  const updated = kept.slice(0, end).flatMap((item, index) => {
    const next = target[index];
    return next === undefined || isSameText(item, next) ? [] : [[item, next] as const];
  });
  return { removed: current.filter((item) => !staying.has(item)), updated, added: target.slice(end) };
}

/** Returns the events that bring a project to another state. */
export function restoreProject(now: ProjectState | undefined, target: ProjectState | undefined): ProjectEvent[] {
  if (!now || !target || now.createdAt !== target.createdAt) {
    const created: ProjectEvent[] = target ? [{ type: 'project-created', data: target, before: null }] : [];
    return now ? [{ type: 'project-deleted', data: null, before: now }, ...created] : created;
  }
  const changed = pickChanged<ProjectMetadata>(now, target, ['name', 'description']);
  const [current, wanted] = [now, target].map(({ members }) => new Map(members.map((one) => [one.userId, one])));
  const members = [...new Set([...(wanted?.keys() ?? []), ...(current?.keys() ?? [])])].flatMap(
    (id): ProjectEvent[] => {
      const [before, data] = [current?.get(id), wanted?.get(id)];
      if (isSameJson(before, data)) return [];
      if (!data) return before ? [{ type: 'member-removed', data: null, before }] : [];
      return before ? [{ type: 'member-role-changed', data, before }] : [{ type: 'member-added', data, before: null }];
    },
  );
  return [...(changed ? [{ type: 'project-updated' as const, ...changed }] : []), ...members];
}

/** Returns the events that bring a segment to another state. */
export function restoreSegment(now: SegmentState | undefined, target: SegmentState | undefined): SegmentEvent[] {
  if (isSameText(now, target)) return [];
  if (!target) return now ? [{ type: 'segment-deleted', data: null, before: now }] : [];
  return now
    ? [{ type: 'segment-updated', data: target, before: now }]
    : [{ type: 'segment-created', data: target, before: null }];
}
