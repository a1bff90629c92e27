import { type Flags, isFlagsError } from '@flags/core';
import type { Principal } from './auth.js';
import { ERROR_KINDS } from './errors.js';
import type { Route } from './route.js';

type Params = Readonly<Record<string, string>>;

/** The project that a request needs permission for; null: the instance. */
export async function projectAskedFor(route: Route, flags: Flags, params: Params): Promise<string | null> {
  if (params.projectId !== undefined) return params.projectId;
  try {
    return (await route.projectOf?.(flags, params)) ?? null;
  } catch (error) {
    if (isFlagsError(error) && ERROR_KINDS[error.code]?.status < 500) return null;
    throw error;
  }
}

/** Reads a body that names the project, then asks for the permission; a bad body is only told of with permission. */
export async function readThenCheck(
  { action }: Route,
  visitor: Principal,
  read: () => Promise<unknown>,
): Promise<{ readonly body: unknown; readonly project: string | null }> {
  let body: unknown;
  try {
    body = await read();
  } catch (error) {
    await visitor.check(action, null);
    throw error;
  }
  const project = projectIn(body) ?? null;
  await visitor.check(action, project);
  return { body, project };
}

/** The project that a body names: null for the instance, undefined when it names none. */
export function projectIn(body: unknown): string | null | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { project } = body as { readonly project?: unknown };
  return typeof project === 'string' || project === null ? project : undefined;
}
