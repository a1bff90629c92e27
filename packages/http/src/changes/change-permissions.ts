import {
  type AuthorizeChanges,
  type Change,
  type ChangeSet,
  type ErrorDetail,
  type Flags,
  isFlagsError,
  LIMITS,
  type PlannedEvent,
  type PlannedSet,
} from '@flags/core';
import {
  describeEvent,
  type OperationName,
  operationOf,
  paced,
  projectsOf,
  REQUEST_OPERATIONS,
} from '@flags/core/integration/http';
import { type Action, permissionOfOperation } from '../actions.js';
import type { RouteRequest } from '../api/route.js';
import { projectIn, projectsCreatedBy, projectsOfDocument, projectsOfEvent } from '../auth/permissions.js';
import { ERROR_KINDS, invalidInput } from '../messages/errors.js';
import { unchecked } from '../messages/request.js';

/*
 * The permissions of changes are checked twice. The first check uses the projects that the changes name, before
 * any read or validation. The second one precedes the commit, and uses the decided documents and events.
 */

/** The permissions that the changes of a request need. */
interface Needs {
  /** The action of the whole set, checked in every project. */
  readonly action: Action;
  /** The action that reads what a request would change, checked in every project. */
  readonly read?: Action;
  /** Nothing is committed, so the actions of the single changes are not checked. */
  readonly isDryRun?: boolean;
  /** The content of a new project needs no further permission. */
  readonly ownsNewProjects?: boolean;
}

interface ChangePermissions extends Needs {
  readonly checkOnce: CheckOnce;
  /** Checks the permissions of every decided set before its commit. */
  readonly flags: Flags;
}

/** Checks a permission. The project is null for the instance. Rejects with `forbidden` without the permission. */
type CheckOnce = (action: Action, project: string | null) => Promise<void>;

type Caller = Pick<RouteRequest, 'flags' | 'principal'>;

/** Checks the permissions of the changes of a request, each once. A dry run ends with its client. */
export function createChangePermissions(request: Caller & Pick<RouteRequest, 'sent'>, needs: Needs): ChangePermissions {
  const checkOnce = createCheckOnce(request.principal);
  const flags = authorized(request, async (planned) => {
    if (needs.isDryRun) request.sent.signal?.throwIfAborted();
    await checkPlanned(planned, { ...needs, checkOnce });
  });
  return { ...needs, checkOnce, flags };
}

/** Returns flags that ask for the permission to use the segments of a strategy, which can reveal their values. */
export function withSegmentCheck(request: Caller): Flags {
  const checkOnce = createCheckOnce(request.principal);
  return authorized(request, ({ segmentUses }) => checkSegments(segmentUses, checkOnce));
}

function authorized({ flags, principal }: Caller, authorize: AuthorizeChanges): Flags {
  return flags.as(principal.actor, { authorize });
}

function createCheckOnce(principal: Caller['principal']): CheckOnce {
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

function isOperation(op: unknown): op is OperationName {
  return REQUEST_OPERATIONS.some((name) => name === op);
}

/**
 * Checks the permissions of changes in the projects that they name, or in that of their flag or segment, and stops at the
 * first refusal. Reads changes that are not validated, because callers without permission may not learn the issues of a
 * change. An unreadable change is about the instance. Reads no document.
 *
 * @throws FlagsError `invalid_input` for a reference without the project that it needs
 */
export async function checkChanges(
  { checkOnce, action, read, isDryRun, flags }: ChangePermissions,
  given: unknown,
): Promise<readonly Change[]> {
  // The engine refuses other values and longer lists. Such a set is about the instance, like an empty one.
  const isReadable = Array.isArray(given) && given.length <= LIMITS.changesPerSet;
  if (!isReadable || given.length === 0) {
    await checkOnce(action, null);
    return unchecked(given);
  }
  for (const one of given as readonly unknown[]) {
    const change: AnyChange = Object(one);
    for (const project of await projectsNamedBy(change, flags)) {
      await checkOnce(action, project);
      if (read) await checkOnce(read, project);
      if (isOperation(change.op) && !isDryRun) await checkOnce(permissionOfOperation(change.op), project);
    }
  }
  const issues = given.flatMap((one, index) => findReferenceIssues(Object(one), `/changes/${index}/ref/project`));
  if (issues.length > 0) throw invalidInput(issues.slice(0, LIMITS.issues));
  return unchecked(given);
}

/** Returns the project of the reference, and that of the input if it names another one; null for the instance. */
async function projectsNamedBy({ op, ref, input }: AnyChange, flags: Flags): Promise<ReadonlySet<string | null>> {
  if (op === 'undoChangeSet') return projectsOfSet(Object(ref), flags);
  const named = projectIn(ref);
  const [from, to] = [named === undefined && mayOmitProject(op) ? locate(ref, flags) : named, projectIn(input)];
  return new Set([from ?? (ref === undefined ? to : undefined) ?? null, to === undefined ? (from ?? null) : to]);
}

/** Returns the projects of a change set; the instance if there is none. */
async function projectsOfSet({ changeSet }: { readonly changeSet?: unknown }, flags: Flags) {
  try {
    const { items } = await flags.history.listProjects({ changeSet: unchecked<string>(changeSet) });
    return new Set(items);
  } catch (error) {
    if (isFlagsError(error) && ERROR_KINDS[error.code]?.status < 500) return new Set([null]);
    throw error;
  }
}

/** Whether the method of an operation finds the flag or segment without its project. */
function mayOmitProject(op: unknown): boolean {
  return isOperation(op) && operationOf(op)?.ref.includes('project') === false;
}

/** Returns the present project of a flag or segment. The second check uses the project at the time of the commit. */
function locate(ref: unknown, flags: Flags): string | null | undefined {
  const { flag, segment } = Object(ref) as { readonly flag?: unknown; readonly segment?: unknown };
  if (typeof flag === 'string') return flags.projectOf({ flag });
  return typeof segment === 'number' ? flags.projectOf({ segment }) : undefined;
}

function findReferenceIssues({ op, ref }: AnyChange, path: string): readonly ErrorDetail[] {
  if (!isOperation(op) || typeof ref !== 'object' || ref === null || projectIn(ref) !== undefined) return [];
  if (mayOmitProject(op)) {
    const isAbsent = (ref as { readonly project?: unknown }).project === undefined;
    return isAbsent ? [] : [{ message: 'must be text, null for the instance, or absent', path }];
  }
  const members = operationOf(op)
    ?.ref.map((name) => `"${name}": "…"`)
    .join(', ');
  return [{ message: `must be the project, as text: write "ref": { ${members} }`, path }];
}

/**
 * Checks the permissions of a decided set before its commit: the action of each event in each project that it is
 * about, and the use of every segment that a strategy starts to use.
 */
async function checkPlanned(
  { documents, segmentUses, projects: seen = [] }: PlannedSet,
  { checkOnce, action, isDryRun, ownsNewProjects }: Omit<ChangePermissions, 'flags'>,
): Promise<void> {
  const exempt = projectsCreatedBy(ownsNewProjects ? documents : []);
  const touched = new Set(documents.flatMap((document) => [...projectsOfDocument(document)]));
  // Clients of other projects see the changes too, of children and through segments.
  const beside = seen.filter((project) => !touched.has(project));
  for await (const document of paced(documents)) {
    for (const event of document.events) {
      const actions = isDryRun ? [action] : [action, ...actionsOf(event)];
      for (const project of [...projectsOfEvent(event, document), ...beside]) {
        if (project !== null && exempt.has(project)) continue;
        for (const one of actions) await checkOnce(one, project);
      }
    }
  }
  await checkSegments(segmentUses, checkOnce);
}

async function checkSegments(segmentUses: PlannedSet['segmentUses'], checkOnce: CheckOnce): Promise<void> {
  for (const { project } of segmentUses) await checkOnce('useSegment', project);
}

/** Checks the action of the set in the projects of a committed set. */
export async function checkCommitted({ checkOnce, action }: ChangePermissions, { events }: ChangeSet): Promise<void> {
  for (const event of events) {
    const projects = event.type === 'project-created' ? [null] : projectsOf([event]);
    for (const project of projects) await checkOnce(action, project);
  }
}

/** Checks the permission to undo a set in the projects of its events, and in the current projects of its flags. */
export async function checkUndo({ checkOnce, action, flags }: ChangePermissions, { events }: ChangeSet): Promise<void> {
  for (const project of projectsOf(events)) await checkOnce(action, project);
  for (const { flag } of events) {
    const project = flag === null ? undefined : flags.projectOf({ flag });
    if (project !== undefined) await checkOnce(action, project);
  }
}

function actionsOf({ op, type, data }: PlannedEvent): readonly Action[] {
  if (op !== undefined) return [permissionOfOperation(op)];
  const action: Action | undefined = describeEvent(type).action;
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
