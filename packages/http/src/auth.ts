import { type Flags, isFlagsError, paginate, type Token, type TokenKind } from '@flags/core';
import { isApiToken, memoizeAsync } from '@flags/core/integration';
import type { ProjectFilter } from './changes/visibility.js';
import { ERROR_KINDS, HostFault, HttpError } from './errors.js';
import type { Actor, Authenticate, Authorize, FlagsApiOptions, SessionApiOptions } from './options.js';
import { createOriginCheck } from './origin.js';
import type { Access, Principal, Scope } from './permissions.js';
import type { FlagsRequest } from './request.js';
import type { Action } from './roles.js';
import type { Route } from './route.js';

/** Returns the token kinds that this part of the API accepts. */
export function kindsFor(access: Access): readonly TokenKind[] {
  return access === 'ofrep' ? ['client', 'frontend'] : [access];
}

/** HTTP requires every 401 to name an authentication scheme. */
function unauthenticated(message: string): HttpError {
  return new HttpError('unauthenticated', message, { 'www-authenticate': 'Bearer' });
}

/** Authenticates by API token. The header holds either the bare secret, as SDKs send it, or `Bearer` and the secret. */
async function identifyByToken(request: FlagsRequest, access: Access, flags: Flags): Promise<Identity> {
  if (!secretIn(request, access)) throw unauthenticated('Send an API token in the header Authorization.');
  const token = await tokenIn(request, access, flags);
  if (token === undefined) throw unauthenticated('The API token is unknown or has expired. Send a valid one.');
  return identityOf(token, access, true);
}

/** Returns the valid token that matches the secret in the request. */
async function tokenIn(request: FlagsRequest, access: Access, flags: Flags): Promise<Token | undefined> {
  const secret = secretIn(request, access);
  return secret ? flags.verifyToken(secret) : undefined;
}

/** Throws `forbidden` when this part of the API does not accept the token's kind. */
function identityOf(token: Token, access: Access, hasSecret = false): Identity {
  const kinds = kindsFor(access);
  if (!kinds.includes(token.kind)) {
    const wanted = kinds.join(' or ');
    throw new HttpError('forbidden', `This needs a token of kind ${wanted}; ${token.name} is of kind ${token.kind}.`);
  }
  const { projects, environment } = token;
  const scope: Scope = { projects: projects.includes('*') ? '*' : projects, environment };
  return { actor: token, scope, token, hasSecret };
}

/** OFREP clients send their token in `Authorization` or in `X-API-Key`. Other parts of the API read the first only. */
function secretIn(request: FlagsRequest, access: Access): string | undefined {
  const header = request.headers.authorization ?? (access === 'ofrep' ? headerOf(request, 'x-api-key') : undefined);
  return header !== undefined && /^bearer\s/i.test(header) ? header.slice('bearer'.length).trimStart() : header;
}

/**
 * Authenticates users of the host application. If the host function returns an API token, the token rules apply: the
 * kind must fit the path. The scope of the request is then the token's projects and environment.
 */
function identifyByHost<Native>(
  flags: Flags,
  authenticate: Authenticate<Actor, Native>,
  caller: string,
): Identify<Native> {
  return async (request, access) => {
    const actor = await callHost(() => authenticate(request.native));
    if (actor === null || actor === undefined) throw unauthenticated('Sign in first.');
    if (typeof actor.name !== 'string' || actor.name === '') {
      throw new TypeError(`${caller}: auth must return an actor with a name, or null.`);
    }
    if (!isApiToken(actor)) return { actor, scope: EVERYTHING };
    const identity = identityOf(actor, access);
    const sent = await tokenIn(request, access, flags);
    return sent?.id === actor.id ? identityOf(actor, access, true) : identity;
  };
}

/** Returns the first value of a header. */
export function headerOf({ headers }: FlagsRequest, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Calls a host function. Wraps its errors in `HostFault`. */
async function callHost<T>(ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw new HostFault(error);
  }
}

/** Authenticates the admin API by session or API token, and the other APIs by API token. */
function identifyBySession<Native>(flags: Flags, byHost: Identify<Native>): Identify<Native> {
  return async (request, access) => {
    const isToken = access !== 'admin' || (await tokenIn(request, access, flags)) !== undefined;
    return isToken ? identifyByToken(request, access, flags) : byHost(request, access);
  };
}

function createIdentify<A extends Actor, Native>(
  flags: Flags,
  auth: AuthOptions<A, Native>['auth'],
  caller: string,
): Identify<Native> {
  if (auth === 'none') return async () => ANONYMOUS;
  if (typeof auth === 'function') return identifyByHost(flags, auth, caller);
  if (typeof auth === 'object') return identifyBySession(flags, identifyByHost(flags, auth.session, caller));
  return (request, access) => identifyByToken(request, access, flags);
}

/** Authenticates a request, or rejects with `unauthenticated`, `forbidden` or `cross_origin`. */
export type Authentication<Native> = (request: FlagsRequest<Native>, access: Access) => Promise<Principal>;

export type AuthOptions<A extends Actor, Native> = FlagsApiOptions<A, Native> | SessionApiOptions<A, Native>;

const EVERYTHING: Scope = { projects: '*', environment: '*' };

const ANONYMOUS: Identity = { actor: { name: 'anonymous' }, scope: EVERYTHING };

export function createAuthentication<A extends Actor, Native>(
  flags: Flags,
  options: AuthOptions<A, Native>,
  caller: string,
): Authentication<Native> {
  const identify = createIdentify(flags, options.auth, caller);
  const checkOrigin = createOriginCheck(options);
  // The option types guarantee that `authorize` accepts the actors of `auth`.
  const authorize = options.authorize as Authorize<Actor> | undefined;

  async function check(actor: Actor, action: Action, project: string | null): Promise<void> {
    if (!authorize || (await callHost(() => authorize(actor, action, project))) === true) return;
    // The message omits the project: the caller may not see which project owns a flag or segment.
    throw new HttpError('forbidden', `${actor.name} may not ${action} here. Ask for the permission.`);
  }

  return async (request, access) => {
    const { actor, scope, token, hasSecret } = await identify(request, access);
    if (!hasSecret) checkOrigin(request, access);
    return {
      name: actor.name,
      scope,
      token,
      check: (action, project) => check(actor, action, project),
      isStillAllowed: (action, project) =>
        identify(request, access)
          .then((present) => check(present.actor, action, project))
          .then(() => true, isFault),
      hasValidToken: hasSecret
        ? () => tokenIn(request, access, flags).then((found) => found !== undefined, isFault)
        : undefined,
    };
  };
}

/** A caller that authentication refuses. */
const OUTSIDER: Principal = {
  name: 'outsider',
  scope: { projects: [], environment: '' },
  isOutsider: true,
  check: async () => {
    throw unauthenticated('Sign in first.');
  },
  isStillAllowed: async () => false,
};

/** Treats callers that authentication refuses as outsiders. Other errors still reject. */
export function admitOutsiders<Native>(authenticate: Authentication<Native>): Authentication<Native> {
  return (request, access) =>
    authenticate(request, access).catch((error) => {
      if (error instanceof HttpError) return OUTSIDER;
      throw error;
    });
}

/** Only an `HttpError` revokes access. Other errors, such as a busy storage, prove nothing about the caller. */
function isFault(error: unknown): boolean {
  return !(error instanceof HttpError);
}

interface Identity {
  readonly actor: Actor;
  readonly scope: Scope;
  /** The API token, if the actor is one. */
  readonly token?: Token;
  /**
   * The `Authorization` header holds the secret of that token. Browsers do not send this header by themselves, so a
   * page of another origin cannot forge the request.
   */
  readonly hasSecret?: boolean;
}

/** Identifies the caller of a request. Rejects with `unauthenticated` or `forbidden`. */
type Identify<Native> = (request: FlagsRequest<Native>, access: Access) => Promise<Identity>;

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
