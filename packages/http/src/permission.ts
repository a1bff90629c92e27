import { type Flags, isFlagsError } from '@flags/core';
import type { Principal } from './auth.js';
import { ERROR_KINDS, HttpError } from './errors.js';
import type { Action } from './permissions.js';
import { allPages } from './query.js';
import type { Route } from './route.js';

type Params = Readonly<Record<string, string>>;

/** Returns the action that `authorize` is asked for. Open routes have none. */
export function permissionOf({ action, permission }: Pick<Route, 'action' | 'permission'>): Action {
  return permission ?? (action as Action);
}

/** Checks the permission of a request, unless its body names the project. Resolves to the project of the check. */
export async function checkPermission(
  route: Route,
  { flags, params, principal }: { readonly flags: Flags; readonly params: Params; readonly principal: Principal },
): Promise<string | null> {
  if (route.permissionBy === 'anyProject') return firstPermittedProject(permissionOf(route), principal, flags);
  const project = await permissionProject(route, flags, params);
  if (route.permissionBy === undefined && !route.isOpen) await principal.check(permissionOf(route), project);
  return project;
}

/** Returns null for a caller with the permission for the instance, else the first project that it may see. */
async function firstPermittedProject(action: Action, principal: Principal, flags: Flags): Promise<string | null> {
  if (await isPermitted(principal, action, null)) return null;
  for await (const { id } of allPages((page) => flags.listProjects(page))) {
    if (await isPermitted(principal, action, id)) return id;
  }
  await principal.check(action, null);
  return null;
}

/** Returns the project of the permission check; null for the instance. */
async function permissionProject(route: Route, flags: Flags, params: Params): Promise<string | null> {
  if (params.projectId !== undefined) return params.projectId;
  try {
    return (await route.projectOf?.(flags, params)) ?? null;
  } catch (error) {
    if (isFlagsError(error) && ERROR_KINDS[error.code]?.status < 500) return null;
    throw error;
  }
}

/**
 * Reads the body. If it cannot be read and should name the permissions, callers without permission for the instance
 * learn nothing about it.
 */
export async function readOrCheck(route: Route, principal: Principal, read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (route.permissionBy === 'handler' || route.permissionBy === 'body') {
      await principal.check(permissionOf(route), null);
    }
    throw error;
  }
}

/**
 * Reads the body, which names the project, then checks the permission. Callers without permission learn nothing about a
 * bad body.
 */
export async function readThenCheck(
  route: Route,
  principal: Principal,
  read: () => Promise<unknown>,
): Promise<{ readonly body: unknown; readonly project: string | null }> {
  const body = await readOrCheck(route, principal, read);
  const project = projectIn(body) ?? null;
  await principal.check(permissionOf(route), project);
  return { body, project };
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

/** Which projects a caller may read, for lists across projects. */
export interface ProjectFilter {
  /** Returns whether the caller may list the flags of a project. */
  canRead(project: string): Promise<boolean>;
  /** Rejects with `forbidden` if the caller may read no project. Call it after the list. */
  assertAnyReadable(): Promise<void>;
}

export function createProjectFilter(principal: Principal, flags: Flags): ProjectFilter {
  let isAnyReadable = false;
  return {
    async canRead(project) {
      const isReadable = await isPermitted(principal, 'listFlags', project);
      isAnyReadable ||= isReadable;
      return isReadable;
    },
    async assertAnyReadable() {
      if (!isAnyReadable) await firstPermittedProject('listFlags', principal, flags);
    },
  };
}

/** Returns the project in a body: null for the instance, undefined when the body names none. */
export function projectIn(body: unknown): string | null | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { project } = body as { readonly project?: unknown };
  return typeof project === 'string' || project === null ? project : undefined;
}
