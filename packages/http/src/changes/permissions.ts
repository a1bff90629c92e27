import {
  type Change,
  type ChangeOperationName,
  type ChangeSet,
  type EventType,
  type Flags,
  type FlagsEvent,
  isFlagsError,
  LIMITS,
} from '@flags/core';
import { projectsIn } from '@flags/core/integration';
import { projectIn, unchecked } from '../body.js';
import { ERROR_KINDS } from '../errors.js';
import type { Action } from '../permissions.js';

/** A permission that a change set needs. The project is null for the instance. */
export interface NeededPermission {
  readonly action: Action;
  readonly project: string | null;
}

/** The permissions of a change set, before it is validated. */
export interface ChangePermissions {
  /** The permissions of the changes. Without those of the set itself. */
  readonly needed: readonly NeededPermission[];
  /** The projects that the set creates. The events of a new project need no further permission. */
  readonly created: ReadonlySet<string>;
  /** The changes. References without a project get the project of the permission check. */
  readonly changes: readonly Change[];
}

interface AnyChange {
  readonly op?: unknown;
  readonly ref?: unknown;
  readonly input?: unknown;
}

/** How a change names its projects. The record type requires an entry for every operation. */
const PLACES: Readonly<Record<ChangeOperationName, 'instance' | 'ref' | 'flag' | 'move' | 'segment' | 'new segment'>> =
  {
    createProject: 'instance',
    updateProject: 'ref',
    deleteProject: 'ref',
    createFlag: 'ref',
    updateFlag: 'ref',
    cloneFlag: 'ref',
    archiveFlag: 'ref',
    reviveFlag: 'flag',
    deleteFlag: 'flag',
    moveFlag: 'move',
    addStrategy: 'ref',
    updateStrategy: 'ref',
    removeStrategy: 'ref',
    enable: 'ref',
    disable: 'ref',
    configureEnvironment: 'ref',
    setVariants: 'ref',
    addDependency: 'ref',
    removeDependency: 'ref',
    createSegment: 'new segment',
    updateSegment: 'segment',
    deleteSegment: 'segment',
    addMember: 'ref',
    changeMemberRole: 'ref',
    removeMember: 'ref',
  };

export const CHANGE_OPERATIONS = Object.keys(PLACES) as readonly ChangeOperationName[];

/**
 * Returns the permissions that changes need. Reads changes that are not validated, because callers without permission
 * may not learn what is wrong with a change: an unreadable change is about the instance.
 */
export async function permissionsOfChanges(flags: Flags, given: unknown): Promise<ChangePermissions> {
  // The engine refuses anything but a list, and a longer one. Such a set is about the instance.
  const isReadable = Array.isArray(given) && given.length <= LIMITS.changesPerSet;
  if (!isReadable) return { needed: [], created: new Set(), changes: unchecked(given) };
  const needed: NeededPermission[] = [];
  const created = new Set<string>();
  const changes: unknown[] = [];
  const moves: Moves = { flags: new Map(), segments: new Map() };
  for (const one of given as readonly unknown[]) {
    const change: AnyChange = Object(one);
    const { change: located, projects } = await locate(flags, change, moves);
    changes.push(isOperation(change.op) ? located : one);
    const action: Action = isOperation(change.op) ? change.op : 'applyChanges';
    for (const project of projects) needed.push({ action, project });
    follow(change, created, moves);
  }
  return { needed, created, changes: unchecked(changes) };
}

function isOperation(op: unknown): op is ChangeOperationName {
  return typeof op === 'string' && Object.hasOwn(PLACES, op);
}

/** Where earlier changes of the set put flags and segments. */
interface Moves {
  readonly flags: Map<string, string>;
  readonly segments: Map<unknown, string | null>;
}

async function locate(
  flags: Flags,
  change: AnyChange,
  moves: Moves,
): Promise<{ readonly change: AnyChange; readonly projects: readonly (string | null)[] }> {
  const { op, ref, input } = change;
  const project = projectIn(ref) ?? null;
  const same = (...projects: (string | null)[]) => ({ change, projects });
  switch (isOperation(op) ? PLACES[op] : 'ref') {
    case 'instance':
      return same(null);
    case 'ref':
      return same(project);
    case 'move':
      return same(project, projectIn(input) ?? null);
    case 'new segment':
      return same(projectIn(input) ?? null);
    case 'segment': {
      const next = op === 'deleteSegment' ? undefined : projectIn(input);
      const segment = textOf(ref, 'segment');
      const current = moves.segments.has(segment)
        ? moves.segments.get(segment)
        : await projectOfSegment(flags, segment);
      const projects = next === undefined ? [current ?? null] : [current ?? null, next];
      // The commit fails if the segment is in another project by then.
      const located = current === undefined ? change : { ...change, ref: { ...Object(ref), project: current } };
      return { change: located, projects };
    }
    case 'flag': {
      if (project !== null) return same(project);
      const flag = textOf(ref, 'flag');
      if (typeof flag !== 'string') return same(null);
      const found = moves.flags.get(flag) ?? (await orNull(async () => (await flags.locateFlag({ flag })).project));
      if (found === null) return same(null);
      return { change: { ...change, ref: { ...Object(ref), project: found } }, projects: [found] };
    }
  }
}

function follow({ op, ref, input }: AnyChange, created: Set<string>, moves: Moves): void {
  const id = textOf(input, 'id');
  if (op === 'createProject' && typeof id === 'string') created.add(id);
  const flag = textOf(op === 'moveFlag' ? ref : input, op === 'moveFlag' ? 'flag' : 'name');
  const project = projectIn(op === 'moveFlag' ? input : ref);
  const isPlaced = op === 'moveFlag' || op === 'createFlag' || op === 'cloneFlag';
  if (isPlaced && typeof flag === 'string' && typeof project === 'string') moves.flags.set(flag, project);
  const segmentProject = projectIn(input);
  if (op === 'updateSegment' && segmentProject !== undefined)
    moves.segments.set(textOf(ref, 'segment'), segmentProject);
}

function textOf(value: unknown, member: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[member] : undefined;
}

/** Returns the project of a segment: null for the instance, undefined for a segment that does not exist. */
async function projectOfSegment(flags: Flags, segment: unknown): Promise<string | null | undefined> {
  if (typeof segment !== 'number') return undefined;
  return (await orNull(() => flags.getSegment({ segment })))?.project;
}

/** Resolves to null where the engine refuses the reference. The operation repeats the refusal. */
async function orNull<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isFlagsError(error) && ERROR_KINDS[error.code].status < 500) return null;
    throw error;
  }
}

/** The action that takes an event back. The engine refuses to undo events without one. */
const UNDOING: Readonly<Record<EventType, Action | undefined>> = {
  'project-created': 'deleteProject',
  'project-updated': 'updateProject',
  'project-deleted': 'createProject',
  'member-added': 'removeMember',
  'member-role-changed': 'changeMemberRole',
  'member-removed': 'addMember',
  'flag-created': 'deleteFlag',
  'flag-updated': 'updateFlag',
  'flag-stale-on': 'updateFlag',
  'flag-stale-off': 'updateFlag',
  'flag-archived': 'reviveFlag',
  'flag-revived': 'archiveFlag',
  'flag-deleted': 'createFlag',
  'flag-moved': 'moveFlag',
  'strategy-added': 'removeStrategy',
  'strategy-updated': 'updateStrategy',
  'strategy-removed': 'addStrategy',
  'environment-enabled': 'disable',
  'environment-disabled': 'enable',
  'variants-updated': 'setVariants',
  'dependency-added': 'removeDependency',
  'dependency-updated': 'addDependency',
  'dependency-removed': 'addDependency',
  'segment-created': 'deleteSegment',
  'segment-updated': 'updateSegment',
  'segment-deleted': 'createSegment',
  'token-created': undefined,
  'token-updated': undefined,
  'token-deleted': undefined,
};

/**
 * Returns the permissions to undo a change set: those of the opposite changes, in the project of each event and in the
 * present project of its flag, and those to use the segments that come back.
 */
export async function permissionsOfUndo(flags: Flags, { events }: ChangeSet): Promise<readonly NeededPermission[]> {
  const needed: NeededPermission[] = [];
  const places = new Map<string, string | null>();
  const segments = new Set<number>();
  for (const event of events) {
    for (const id of segmentsIn(event.before)) segments.add(id);
    const action = UNDOING[event.type];
    if (action === undefined || isLayout(event)) continue;
    needed.push({ action, project: event.type === 'project-deleted' ? null : event.project });
    for (const project of projectsIn(event)) needed.push({ action, project });
    if (event.flag === null) continue;
    const { flag } = event;
    const present = places.get(flag) ?? (await orNull(async () => (await flags.locateFlag({ flag })).project));
    places.set(flag, present);
    if (present !== null) needed.push({ action, project: present });
  }
  for (const segment of segments) {
    const project = await orNull(async () => ({ of: (await flags.getSegment({ segment })).project }));
    if (project) needed.push({ action: 'useSegment', project: project.of });
  }
  return needed;
}

/** An undo adds such an event to those of the opposite changes. It changes nothing that clients see. */
function isLayout({ type, data }: FlagsEvent): boolean {
  return type === 'flag-updated' && Object.hasOwn(Object(data), 'layout');
}

/** Returns the segments that the strategies in a state use. */
function segmentsIn(state: unknown): readonly number[] {
  if (typeof state !== 'object' || state === null) return [];
  if (Array.isArray(state)) return state.flatMap(segmentsIn);
  const { segments, strategies, environments } = state as Readonly<Record<string, unknown>>;
  const own = Array.isArray(segments) ? segments.filter((id) => typeof id === 'number') : [];
  return [...own, ...segmentsIn(strategies), ...segmentsIn(environments)];
}
