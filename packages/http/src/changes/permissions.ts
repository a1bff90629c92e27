import type {
  AuthorizeChanges,
  Change,
  ChangeSet,
  Flags,
  PlannedDocument,
  PlannedEvent,
  PlannedSet,
} from '@flags/core';
import { LIMITS } from '@flags/core';
import { describeEvent, paced, projectsOf } from '@flags/core/integration';
import type { ChangeOperationName } from '@flags/core/types';
import { projectIn, unchecked } from '../body.js';
import type { Action } from '../roles.js';
import type { RouteRequest } from '../route.js';

/*
 * The permissions of changes are checked twice. The first check uses the projects that the changes name, before
 * any read or validation. The second one precedes the commit, and uses the decided documents and events.
 */

/** The permissions that the changes of a request need. */
interface Needs {
  /** The action of the whole set, checked in every project. */
  readonly action: Action;
  /** Nothing is committed, so the actions of the single changes are not checked. */
  readonly isDryRun?: boolean;
  /** The content of a new project needs no further permission. */
  readonly ownsNewProjects?: boolean;
}

interface Asking extends Needs {
  readonly ask: Ask;
  /** Checks the permissions of every decided set before its commit. */
  readonly flags: Flags;
}

/** Checks a permission. The project is null for the instance. Rejects with `forbidden` without the permission. */
type Ask = (action: Action, project: string | null) => Promise<void>;

type Asker = Pick<RouteRequest, 'flags' | 'principal'>;

/** Checks the permissions of the changes of a request, each once. A dry run ends with its client. */
export function createAsking(request: Asker & Pick<RouteRequest, 'sent'>, needs: Needs): Asking {
  const ask = createAsk(request.principal);
  const flags = authorized(request, async (planned) => {
    if (needs.isDryRun) request.sent.signal?.throwIfAborted();
    await askForPlanned(planned, { ...needs, ask });
  });
  return { ...needs, ask, flags };
}

/** Returns flags that ask for the permission to use the segments of a strategy, which can reveal their values. */
export function askingForSegments(request: Asker): Flags {
  const ask = createAsk(request.principal);
  return authorized(request, ({ segmentUses }) => askForSegments(segmentUses, ask));
}

function authorized({ flags, principal }: Asker, authorize: AuthorizeChanges): Flags {
  return flags.as(principal.token ?? principal.name, { authorize });
}

function createAsk(principal: Asker['principal']): Ask {
  const granted = new Set<string>();
  return async (action, project) => {
    const question = JSON.stringify([action, project]);
    if (granted.has(question)) return;
    await principal.check(action, project);
    granted.add(question);
  };
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

function isOperation(op: unknown): op is ChangeOperationName {
  return typeof op === 'string' && Object.hasOwn(PLACES, op);
}

/**
 * Checks the permissions of changes in the projects that they name, and stops at the first refusal. Reads changes that are
 * not validated, because callers without permission may not learn the issues of a change. An unreadable change is
 * about the instance. Reads no document.
 *
 * @returns the changes; references without a project get the checked project, so that the engine refuses a
 * flag or segment that has moved since
 */
export async function askForChanges(
  { ask, action, isDryRun, flags }: Asking,
  given: unknown,
): Promise<readonly Change[]> {
  // The engine refuses other values and longer lists. Such a set is about the instance, like an empty one.
  const isReadable = Array.isArray(given) && given.length <= LIMITS.changesPerSet;
  if (!isReadable || given.length === 0) {
    await ask(action, null);
    return unchecked(given);
  }
  const locate = createLocate(flags);
  const placed = new Set<unknown>();
  const changes: unknown[] = [];
  for (const one of given as readonly unknown[]) {
    const change: AnyChange = Object(one);
    const { projects, project } = await placesOf(change, locate, placed);
    for (const place of projects) {
      await ask(action, place);
      if (isOperation(change.op) && !isDryRun) await ask(change.op, place);
    }
    changes.push(project === undefined ? one : { ...change, ref: { ...Object(change.ref), project } });
    placed.add(placedBy(change));
  }
  return unchecked(changes);
}

type Locate = (ref: Parameters<Flags['projectOf']>[0]) => Promise<string | null | undefined>;

/** Returns a function that finds the project of a flag or segment in memory; undefined if there is none. */
function createLocate(flags: Flags): Locate {
  let refreshed: Promise<unknown> | undefined;
  return async (ref) => {
    if (flags.projectOf(ref) === undefined) {
      // Another process may have just created it.
      refreshed ??= flags.refresh();
      await refreshed;
    }
    return flags.projectOf(ref);
  };
}

interface Places {
  readonly projects: readonly (string | null)[];
  /** The project of a flag or segment whose reference names none. */
  readonly project?: string | null | undefined;
}

/**
 * Returns the projects that a change names. Flags and segments that earlier changes of the set have placed elsewhere have
 * no entry: the decided events show their project.
 */
async function placesOf({ op, ref, input }: AnyChange, locate: Locate, placed: ReadonlySet<unknown>): Promise<Places> {
  const named = projectIn(ref) ?? null;
  switch (isOperation(op) ? PLACES[op] : 'ref') {
    case 'instance':
      return { projects: [null] };
    case 'ref':
      return { projects: [named] };
    case 'move':
      return { projects: [named, projectIn(input) ?? null] };
    case 'new segment':
      return { projects: [projectIn(input) ?? null] };
    case 'segment': {
      const segment = memberOf(ref, 'segment');
      const next = op === 'deleteSegment' ? undefined : projectIn(input);
      const others = next === undefined ? [] : [next];
      if (typeof segment !== 'number') return { projects: [null, ...others] };
      if (placed.has(segment)) return { projects: others };
      const project = await locate({ segment });
      return { projects: [project ?? null, ...others], project };
    }
    case 'flag': {
      const flag = memberOf(ref, 'flag');
      if (named !== null || typeof flag !== 'string') return { projects: [named] };
      if (placed.has(flag)) return { projects: [] };
      const project = await locate({ flag });
      return { projects: [project ?? null], project };
    }
  }
}

/** Returns the name of a flag, or the id of a segment, that a change creates or moves. */
function placedBy({ op, ref, input }: AnyChange): unknown {
  if (op === 'createFlag' || op === 'cloneFlag') return memberOf(input, 'name');
  if (op === 'moveFlag') return memberOf(ref, 'flag');
  return op === 'updateSegment' && projectIn(input) !== undefined ? memberOf(ref, 'segment') : undefined;
}

function memberOf(value: unknown, member: string): unknown {
  return (Object(value) as Readonly<Record<string, unknown>>)[member];
}

/**
 * Checks the permissions of a decided set before its commit: the action of each event in each project that it is
 * about, and the use of every segment that a strategy starts to use.
 */
async function askForPlanned(
  { documents, segmentUses }: PlannedSet,
  { ask, action, isDryRun, ownsNewProjects }: Omit<Asking, 'flags'>,
): Promise<void> {
  const exempt = projectsCreatedBy(ownsNewProjects ? documents : []);
  for await (const document of paced(documents)) {
    for (const event of document.events) {
      const actions = isDryRun ? [action] : [action, ...actionsOf(event)];
      for (const project of projectsOfEvent(event, document)) {
        if (project !== null && exempt.has(project)) continue;
        for (const one of actions) await ask(one, project);
      }
    }
  }
  await askForSegments(segmentUses, ask);
}

async function askForSegments(segmentUses: PlannedSet['segmentUses'], ask: Ask): Promise<void> {
  for (const { project } of segmentUses) await ask('useSegment', project);
}

/** Checks the action of the set in the projects of a committed set. */
export async function askForCommitted({ ask, action }: Asking, { events }: ChangeSet): Promise<void> {
  for (const event of events) {
    const projects = event.type === 'project-created' ? [null] : projectsOf([event]);
    for (const project of projects) await ask(action, project);
  }
}

/** Checks the permission to undo a set in the projects of its events, and in the current projects of its flags. */
export async function askForUndo({ ask, action, flags }: Asking, { events }: ChangeSet): Promise<void> {
  for (const project of projectsOf(events)) await ask(action, project);
  for (const { flag } of events) {
    const project = flag === null ? undefined : flags.projectOf({ flag });
    if (project !== undefined) await ask(action, project);
  }
}

function actionsOf({ op, type, data }: PlannedEvent): readonly Action[] {
  // Every operation of a change set has an action with the same name.
  if (op !== undefined) return [op as Action];
  const action = describeEvent(type).action;
  if (action === undefined) return [];
  return type === 'flag-created' && isLive(data) ? [action, 'enable'] : [action];
}

function isLive(flag: unknown): boolean {
  const { archived, environments } = flag as {
    readonly archived: boolean;
    readonly environments: readonly { readonly enabled: boolean }[];
  };
  return !archived && environments.some(({ enabled }) => enabled);
}

/**
 * Returns the projects that need the permission for an event. A new project is about the instance. Without an operation
 * these are also the projects of the document, because the event may be one step of a move.
 */
function projectsOfEvent(event: PlannedEvent, document: PlannedDocument): ReadonlySet<string | null> {
  if (event.type === 'project-created') return new Set([null]);
  const own = projectsOf([event]);
  return event.op === undefined ? new Set([...own, ...projectsOfDocument(document)]) : own;
}

/** Returns the projects of a document before and after its changes. */
export function projectsOfDocument({
  kind,
  id,
  before,
  after,
}: Omit<PlannedDocument, 'events'>): ReadonlySet<string | null> {
  if (kind === 'project') return new Set([id]);
  const states = [before, after].filter((state) => state !== null) as readonly { readonly project?: string | null }[];
  return new Set(states.map(({ project = null }) => project));
}

/** Returns the projects that a decided set creates. */
export function projectsCreatedBy(documents: readonly PlannedDocument[]): ReadonlySet<string> {
  const created = documents.filter(({ kind, before }) => kind === 'project' && before === null);
  return new Set(created.map(({ id }) => id));
}
