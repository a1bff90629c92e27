import {
  type AuthorizeChanges,
  type Flags,
  isFlagsError,
  type ListedChangeRequest,
  type PlannedDocument,
  type PlannedEvent,
} from '@flags/core';
import { paced, projectsOf } from '@flags/core/integration/http';
import { permissionOf } from '../actions.js';
import type { Principal } from '../auth/permissions.js';
import { firstPermittedProject } from '../auth/permissions.js';
import { ERROR_KINDS, HttpError } from '../messages/errors.js';
import type { FindProject, Route } from './route.js';

type Params = Readonly<Record<string, string>>;

interface PermissionRequest {
  readonly flags: Flags;
  readonly params: Params;
  readonly principal: Principal;
  /** The change set that the request may repeat. */
  readonly repeated?: string | undefined;
  /** Whether the request asks to do without an approval. */
  readonly bypasses: boolean;
}

/**
 * Checks the permission of a request, and that of a bypass, unless its body names the project. Resolves to the project of
 * the check. {@link createBypassCheck} checks a bypass in all projects of the changes.
 */
export async function checkPermission(
  route: Route,
  { flags, params, principal, repeated, bypasses }: PermissionRequest,
): Promise<string | null> {
  const permission = permissionOf(route.action);
  if (permission === undefined) return null;
  const { permissionIn } = route;
  if (permissionIn === 'anyProject') return firstPermittedProject(permission, principal, flags);
  if (permissionIn === 'handler') return params.projectId ?? null;
  const project = params.projectId ?? (permissionIn ? await locate(permissionIn) : null);
  await principal.check(permission, project);
  if (bypasses) await principal.check('bypassApproval', project);
  return project;

  /** A repeated request is about the project of the first one: it may have deleted the flag or segment. */
  async function locate(find: FindProject): Promise<string | null> {
    const first = repeated === undefined ? undefined : await projectOfSet(flags, repeated);
    return first === undefined ? projectOf(find, flags, params) : first;
  }
}

/** Resolves to the project of a change set; undefined if there is no such set, or if it is about several projects. */
async function projectOfSet(flags: Flags, changeSet: string): Promise<string | null | undefined> {
  try {
    const { items } = await flags.history.listProjects({ changeSet });
    return items.length === 1 ? items[0] : undefined;
  } catch (error) {
    if (isFlagsError(error) && error.code === 'change_set_not_found') return undefined;
    throw error;
  }
}

/** Resolves to the project of a flag or segment whose path omits it; null for the instance, or if it does not exist. */
async function projectOf(find: FindProject, flags: Flags, params: Params): Promise<string | null> {
  try {
    return (await find(flags, params)) ?? null;
  } catch (error) {
    if (isFlagsError(error) && ERROR_KINDS[error.code]?.status < 500) return null;
    throw error;
  }
}

/**
 * Reads the body. If an unreadable body should name the projects to check, callers without permission for the instance
 * learn nothing about it.
 */
export async function readOrCheck(route: Route, principal: Principal, read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    const isAboutBody = isFlagsError(error) || (error instanceof HttpError && error.code !== 'overloaded');
    const permission = permissionOf(route.action);
    if (isAboutBody && permission && route.permissionIn === 'handler') await principal.check(permission, null);
    throw error;
  }
}

/**
 * Returns the check of the changes of a request that bypasses approval: its permission, in every project that they touch.
 * The content of a new project needs the permission for the instance, as the project does.
 */
export function createBypassCheck(principal: Pick<Principal, 'check'>): AuthorizeChanges {
  return async ({ documents }) => {
    const created = projectsCreatedBy(documents);
    const touched = new Set<string | null>();
    for await (const document of paced(documents)) {
      for (const event of document.events) for (const project of projectsOfEvent(event, document)) touched.add(project);
    }
    for (const project of touched) {
      if (project === null || !created.has(project)) await principal.check('bypassApproval', project);
    }
  };
}

/**
 * Returns the projects that need the permission for an event. A new project is about the instance. Without an operation
 * these are also the projects of the document, because the event may be one step of a move.
 */
export function projectsOfEvent(event: PlannedEvent, document: PlannedDocument): ReadonlySet<string | null> {
  if (event.type === 'project-created') return new Set([null]);
  if (document.kind === 'change-request') return projectsOfRequest(document);
  const own = projectsOf([event]);
  return event.op === undefined ? new Set([...own, ...projectsOfDocument(document)]) : own;
}

/** Returns the projects of a change request. Its events name no project if it has several. */
function projectsOfRequest({ after }: Pick<PlannedDocument, 'after'>): ReadonlySet<string | null> {
  return new Set((after as Pick<ListedChangeRequest, 'projects'>).projects);
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
