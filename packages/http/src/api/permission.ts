import { type Flags, isFlagsError } from '@flags/core';
import type { Principal } from '../auth/permissions.js';
import { firstPermittedProject } from '../auth/permissions.js';
import type { Action } from '../auth/roles.js';
import { ERROR_KINDS, HttpError } from '../messages/errors.js';
import type { Route } from './route.js';

type Params = Readonly<Record<string, string>>;

/** Returns the action that `authorize` is asked for. Open routes have none. */
export function permissionOf({ action, permission }: Pick<Route, 'action' | 'permission'>): Action {
  return permission ?? (action as Action);
}

interface PermissionRequest {
  readonly flags: Flags;
  readonly params: Params;
  readonly principal: Principal;
  /** The change set that the request may repeat. */
  readonly repeated?: string | undefined;
}

/** Checks the permission of a request, unless its body names the project. Resolves to the project of the check. */
export async function checkPermission(
  route: Route,
  { flags, params, principal, repeated }: PermissionRequest,
): Promise<string | null> {
  if (route.permissionBy === 'anyProject') return firstPermittedProject(permissionOf(route), principal, flags);
  const project = params.projectId ?? (route.projectOf ? await locate(route.projectOf) : null);
  if (route.permissionBy === undefined && !route.isOpen) await principal.check(permissionOf(route), project);
  return project;

  /** A repeated request is about the project of the first one: it may have deleted the flag or segment. */
  async function locate(find: NonNullable<Route['projectOf']>): Promise<string | null> {
    const first = repeated === undefined ? undefined : await projectOfSet(flags, repeated);
    return first === undefined ? projectOf(find, flags, params) : first;
  }
}

/** Resolves to the project of a change set; undefined if there is no such set, or if it is about several projects. */
async function projectOfSet(flags: Flags, changeSet: string): Promise<string | null | undefined> {
  try {
    const { items } = await flags.listChangeSetProjects({ changeSet });
    return items.length === 1 ? items[0] : undefined;
  } catch (error) {
    if (isFlagsError(error) && error.code === 'change_set_not_found') return undefined;
    throw error;
  }
}

/** Resolves to the project of a flag or segment whose path omits it; null for the instance, or if it does not exist. */
async function projectOf(find: NonNullable<Route['projectOf']>, flags: Flags, params: Params): Promise<string | null> {
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
    if (isAboutBody && route.permissionBy === 'handler') await principal.check(permissionOf(route), null);
    throw error;
  }
}
