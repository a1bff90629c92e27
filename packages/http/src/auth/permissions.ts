import {
  type AuthorizeChanges,
  type ErrorDetail,
  type Flags,
  FlagsError,
  isFlagsError,
  type ListedChangeRequest,
  type PlannedDocument,
  type PlannedEvent,
  paginate,
  type Token,
} from '@flags/core';
import { memoizeAsync, paced, projectsOf } from '@flags/core/integration/http';
import type { Action } from '../actions.js';
import { HttpError } from '../messages/errors.js';

/** A part of the API. `ofrep` accepts the tokens of `client` and `frontend`. */
export type Access = 'admin' | SdkAccess;

/** The parts of the API for SDKs. Followers have them too. */
export type SdkAccess = 'client' | 'frontend' | 'ofrep';

/** The projects and environments that a request may see. Callers without a token see all of them. */
export interface Scope {
  /** Project ids; `*` means all projects. */
  readonly projects: '*' | readonly string[];
  /** The name of an environment; `*` means all environments. */
  readonly environment: string;
}

/** An authenticated caller. */
export interface Principal {
  readonly name: string;
  /** The actor of its changes, with the id of the user, if the host has given one. */
  readonly actor: Parameters<Flags['as']>[0];
  readonly scope: Scope;
  /** The API token of the caller. */
  readonly token?: Token | undefined;
  /** Authentication refused the caller. Only open routes reply to it. */
  readonly isOutsider?: true;
  /** Resolves when the caller has the permission. Otherwise rejects with `forbidden`. */
  check(action: Action, project: string | null): Promise<void>;
  /** Checks again whether the caller may do this. The token may have expired, or the permission may be gone. */
  isStillAllowed(action: Action, project: string | null): Promise<boolean>;
  /** Reports whether the token is still valid. Absent when the request carries no token secret. */
  readonly hasValidToken?: (() => Promise<boolean>) | undefined;
}

/** Returns null for a caller with the permission for the instance, else the first project that it may see. */
export async function firstPermittedProject(
  action: Action,
  principal: Principal,
  flags: Flags,
): Promise<string | null> {
  if (await isPermitted(principal, action, null)) return null;
  for await (const { id } of paginate((page) => flags.listProjects(page))) {
    if (await isPermitted(principal, action, id)) return id;
  }
  await principal.check(action, null);
  return null;
}

/** Returns whether the caller has the permission. Errors of `authorize` reject: they prove nothing about the caller. */
export async function isPermitted(
  principal: Pick<Principal, 'check'>,
  action: Action,
  project: string | null,
): Promise<boolean> {
  try {
    await principal.check(action, project);
    return true;
  } catch (error) {
    if (error instanceof HttpError) return false;
    throw error;
  }
}

/** Creates a function that asks once per project whether the caller may see it. New projects are the caller's own. */
export function createProjectFilter(
  principal: Pick<Principal, 'check'>,
  action: Action,
  created: readonly (string | null)[] = [],
): ProjectFilter {
  return memoizeAsync(async (project) => created.includes(project) || isPermitted(principal, action, project));
}

/** Resolves to whether the caller may read a project; null stands for the instance. */
export type ProjectFilter = (project: string | null) => Promise<boolean>;

/** The detail of `approval_required` about one flag: `/environments/ENVIRONMENT/PROJECT/FLAG`. */
const FLAG_DETAIL = /^\/environments\/[^/]+\/([^/]+)\/[^/]+$/;

/**
 * Replaces the details of `approval_required` about flags that the caller may not read by their number. Returns other
 * errors as they are.
 */
export async function hideUnreadable(error: unknown, principal: Pick<Principal, 'check'>): Promise<unknown> {
  if (!isFlagsError(error) || error.code !== 'approval_required') return error;
  const maySee = createProjectFilter(principal, 'getFlag');
  const visible: ErrorDetail[] = [];
  for (const detail of error.details) {
    const project = FLAG_DETAIL.exec(detail.path ?? '')?.[1];
    if (project === undefined || (await maySee(unescapePointer(project)))) visible.push(detail);
  }
  const hidden = error.details.length - visible.length;
  if (hidden === 0) return error;
  const message = hidden === 1 ? '1 flag that you may not read' : `${hidden} flags that you may not read`;
  return new FlagsError(error.code, error.message, [...visible, { message, path: '/environments' }]);
}

function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
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

/** Returns the project in a body: null for the instance, undefined when the body names none. */
export function projectIn(body: unknown): string | null | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { project } = body as { readonly project?: unknown };
  return typeof project === 'string' || project === null ? project : undefined;
}
