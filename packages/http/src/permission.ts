import { type Flags, isFlagsError } from '@flags/core';
import type { Principal } from './auth.js';
import { ERROR_KINDS, HttpError } from './errors.js';
import type { Action } from './permissions.js';
import type { Route } from './route.js';

type Params = Readonly<Record<string, string>>;

/** Returns the project of the permission check; null for the instance. */
export async function permissionProject(route: Route, flags: Flags, params: Params): Promise<string | null> {
  if (params.projectId !== undefined) return params.projectId;
  try {
    return (await route.projectOf?.(flags, params)) ?? null;
  } catch (error) {
    if (isFlagsError(error) && ERROR_KINDS[error.code]?.status < 500) return null;
    throw error;
  }
}

/**
 * Reads the body, which names the project, then checks the permission. Callers without permission learn nothing about a
 * bad body.
 */
export async function readThenCheck(
  { action }: Route,
  principal: Principal,
  read: () => Promise<unknown>,
): Promise<{ readonly body: unknown; readonly project: string | null }> {
  let body: unknown;
  try {
    body = await read();
  } catch (error) {
    await principal.check(action, null);
    throw error;
  }
  const project = projectIn(body) ?? null;
  await principal.check(action, project);
  return { body, project };
}

/** Returns the project in a body: null for the instance, undefined when the body names none. */
export function projectIn(body: unknown): string | null | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { project } = body as { readonly project?: unknown };
  return typeof project === 'string' || project === null ? project : undefined;
}

/** Which projects a caller may read, for lists across projects. */
export interface ProjectFilter {
  /** Returns whether the caller may list the flags of a project. */
  canRead(project: string): Promise<boolean>;
  /**
   * Rejects with `forbidden` if the caller may read no project at all, nor perform the action on the instance. Call it
   * after the list.
   */
  assertAnyReadable(): Promise<void>;
}

interface FilterContext {
  readonly flags: Flags;
  readonly check: Principal['check'];
  /** The action of the list. */
  readonly action: Action;
}

export function createProjectFilter({ flags, check, action }: FilterContext): ProjectFilter {
  let isAnyReadable = false;

  async function canRead(project: string): Promise<boolean> {
    try {
      await check('listFlags', project);
    } catch (error) {
      if (error instanceof HttpError && error.code === 'forbidden') return false;
      throw error;
    }
    isAnyReadable = true;
    return true;
  }

  return {
    canRead,
    async assertAnyReadable() {
      if (isAnyReadable) return;
      for (const { id } of await flags.listProjects()) if (await canRead(id)) return;
      await check(action, null);
    },
  };
}
