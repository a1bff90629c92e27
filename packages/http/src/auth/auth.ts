import type { Token, TokenKind } from '@flags/core';
import { isApiToken, readPersonId } from '@flags/core/integration/http';
import type { Person } from '@flags/core/types';
import { ACTIONS, type Action } from '../actions.js';
import { HostFault, HttpError, InvalidActor } from '../messages/errors.js';
import { type FlagsRequest, headerOf } from '../messages/request.js';
import type { FlagsSource, StreamTickets } from '../source.js';
import { createOriginCheck } from './origin.js';
import type { Access, Principal, Scope } from './permissions.js';

/*
 * Finds out who sends a request: by API token, by the session of the host, or without authentication.
 */

/** Returns the token kinds that this part of the API accepts. */
export function kindsFor(access: Access): readonly TokenKind[] {
  return access === 'ofrep' ? ['client', 'frontend'] : [access];
}

/** Finds the tokens of callers. */
interface Verifier {
  readonly source: Pick<FlagsSource, 'verifyToken'>;
  /** Finds the token of a ticket in the address of a stream. Absent: there are no tickets. */
  readonly verifyTicket?: StreamTickets['verify'] | undefined;
}

/** HTTP requires every 401 to name an authentication scheme. */
function unauthenticated(message: string): HttpError {
  return new HttpError('unauthenticated', message, { 'www-authenticate': 'Bearer' });
}

/** Authenticates by API token. The header holds either the bare secret, as SDKs send it, or `Bearer` and the secret. */
async function identifyByToken(request: FlagsRequest, access: Access, verifier: Verifier): Promise<Identity> {
  const hasSecret = Boolean(secretIn(request, access));
  if (!hasSecret && ticketIn(request, access) === undefined) {
    throw unauthenticated('Send an API token in the header Authorization.');
  }
  const token = await tokenIn(request, access, verifier);
  if (token !== undefined) return identityOf(token, access, true);
  throw unauthenticated(
    hasSecret
      ? 'The API token is unknown or has expired. Send a valid one.'
      : 'The key of this address is invalid or has expired. Evaluate all flags again: the reply has the current address.',
  );
}

/** Returns the valid token that matches the secret, or else the ticket, in the request. */
async function tokenIn(request: FlagsRequest, access: Access, verifier: Verifier): Promise<Token | undefined> {
  const secret = secretIn(request, access);
  if (secret) return verifier.source.verifyToken(secret);
  const ticket = ticketIn(request, access);
  return ticket === undefined ? undefined : verifier.verifyTicket?.(ticket);
}

/** The query parameter with a ticket. */
export const TICKET_PARAMETER = 'key';

/** Returns the ticket in the address of a stream, which is the only `GET` of OFREP. */
function ticketIn({ method, rawQuery }: FlagsRequest, access: Access): string | undefined {
  const isStream = access === 'ofrep' && (method === 'GET' || method === 'HEAD');
  return (isStream && new URLSearchParams(rawQuery).get(TICKET_PARAMETER)) || undefined;
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
  verifier: Verifier,
  authenticate: Authenticate<Actor, Native>,
  caller: string,
): Identify<Native> {
  return async (request, access) => {
    const actor = await callHost(() => authenticate(request.native));
    if (actor === null || actor === undefined) throw unauthenticated('Sign in first.');
    assertActor(actor, caller);
    if (!isApiToken(actor)) return { actor, scope: EVERYTHING };
    const identity = identityOf(actor, access);
    const sent = await tokenIn(request, access, verifier);
    return sent?.id === actor.id ? identityOf(actor, access, true) : identity;
  };
}

/** Throws unless the host has returned an actor. `flags.as` converts its id. */
function assertActor({ name, id }: Actor, caller: string): void {
  if (typeof name !== 'string' || name === '') {
    throw new InvalidActor(`${caller}: auth must return an actor with a name, or null.`);
  }
  try {
    readPersonId(id);
  } catch {
    const needed = 'text or a finite number: convert it, as in String(user.id), or leave it out';
    throw new InvalidActor(`${caller}: the id of the actor that auth returns must be ${needed}.`);
  }
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
function identifyBySession<Native>(verifier: Verifier, byHost: Identify<Native>): Identify<Native> {
  return async (request, access) => {
    const isToken = access !== 'admin' || (await tokenIn(request, access, verifier)) !== undefined;
    return isToken ? identifyByToken(request, access, verifier) : byHost(request, access);
  };
}

function createIdentify<A extends Actor, Native>(
  verifier: Verifier,
  auth: AuthOptions<A, Native>['auth'],
  caller: string,
): Identify<Native> {
  if (auth === 'none') return async () => ANONYMOUS;
  if (typeof auth === 'function') return identifyByHost(verifier, auth, caller);
  if (typeof auth === 'object') return identifyBySession(verifier, identifyByHost(verifier, auth.session, caller));
  return (request, access) => identifyByToken(request, access, verifier);
}

/** Authenticates a request, or rejects with `unauthenticated`, `forbidden` or `cross_origin`. */
export type Authentication<Native> = (request: FlagsRequest<Native>, access: Access) => Promise<Principal>;

/** The options of the API that say who the callers are, and what they may do. */
export interface AuthOptions<A extends Actor, Native> {
  readonly auth: Authenticate<A, Native> | 'token' | 'none' | SessionAuth<A, Native>;
  readonly authorize?: Authorize<A> | Authorize<A | Token>;
  readonly trustedOrigins?: readonly string[];
}

const EVERYTHING: Scope = { projects: '*', environment: '*' };

const ANONYMOUS: Identity = { actor: { name: 'anonymous' }, scope: EVERYTHING };

export function createAuthentication<A extends Actor, Native>(
  verifier: Verifier,
  options: AuthOptions<A, Native>,
  caller: string,
): Authentication<Native> {
  const identify = createIdentify(verifier, options.auth, caller);
  const checkOrigin = createOriginCheck(options);
  // The option types guarantee that `authorize` accepts the actors of `auth`.
  const authorize = options.authorize as Authorize<Actor> | undefined;

  async function check(actor: Actor, action: Action, project: string | null): Promise<void> {
    if ('people' in ACTIONS[action]) assertPerson(actor, action);
    if (!authorize || (await callHost(() => authorize(actor, action, project))) === true) return;
    // The message omits the project: the caller may not see which project owns a flag or segment.
    throw new HttpError('forbidden', `${actor.name} may not ${action} here. Ask for the permission.`);
  }

  return async (request, access) => {
    const { actor, scope, token, hasSecret } = await identify(request, access);
    if (!hasSecret) checkOrigin(request, access);
    return {
      name: actor.name,
      actor: token ?? personOf(actor),
      scope,
      token,
      check: (action, project) => check(actor, action, project),
      isStillAllowed: (action, project) =>
        identify(request, access)
          .then((present) => check(present.actor, action, project))
          .then(() => true, isFault),
      hasValidToken: hasSecret
        ? () => tokenIn(request, access, verifier).then((found) => found !== undefined, isFault)
        : undefined,
    };
  };
}

/** Approvals need people. `authorize` is not asked, so that no role can give the permission to a program. */
function assertPerson(actor: Actor, action: Action): void {
  const isToken = isApiToken(actor);
  if (!isToken && actor !== ANONYMOUS.actor) return;
  const who = isToken ? 'API tokens' : 'Anonymous callers';
  const needed = 'Approvals need users: mount the router in an application with the option `auth` for its users.';
  throw new HttpError('forbidden', `${who} may not ${action}. ${needed}`);
}

/** Returns a user of the host by name and id, without its other members. */
function personOf({ name, id }: Actor): Person {
  const person = readPersonId(id);
  return person === undefined ? { name } : { name, id: person };
}

/** A caller that authentication refuses. */
const OUTSIDER: Principal = {
  name: 'outsider',
  actor: 'outsider',
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
   * The request has the secret of that token, or its ticket. Browsers send neither by themselves, so a page of another
   * origin cannot forge the request.
   */
  readonly hasSecret?: boolean;
}

/** Identifies the caller of a request. Rejects with `unauthenticated` or `forbidden`. */
type Identify<Native> = (request: FlagsRequest<Native>, access: Access) => Promise<Identity>;

/** The caller of a request. Your own user type qualifies if it has a name. */
export interface Actor {
  /** The author of changes in the event log; not empty. */
  readonly name: string;
  /**
   * An id that stays when the name changes, as text or a finite number: 7 and `'7'` are one person. Approvals compare
   * people by it, and by name without one. Any other type is a defect of your function: the request gets a 500, and
   * `onError` the error.
   */
  readonly id?: string | number | undefined;
}

/**
 * Returns the actor of a request, from a session, cookie or header; null if no user is signed in. Its errors,
 * including a `FlagsError`, go to your application's error handler.
 */
export type Authenticate<A extends Actor, Native = unknown> = (
  request: Native,
) => A | null | undefined | Promise<A | null | undefined>;

/**
 * Returns whether an actor may perform an action. Only `true` grants the permission.
 *
 * Its errors, including a `FlagsError`, go to your application's error handler. The router also calls it with
 * `useSegment` when a strategy starts to use segments, once for each project that owns them.
 *
 * @param action The operation of the request, or `useSegment`.
 * @param project The project in the path, or the project that owns the flag or segment in the path. It is null for
 * instance-wide resources: instance segments, API tokens, and lists across projects (projects, archive, events,
 * metrics, the playground). It is also null for flags and segments that do not exist.
 */
export type Authorize<A extends Actor> = (
  actor: A,
  action: Action,
  project: string | null,
) => boolean | Promise<boolean>;

/** Built-in authentication supplies only a name, so `authorize` may not require more from an actor. */
export type BuiltInAuth<A extends Actor> = Actor extends A ? 'token' | 'none' : never;

/** The authentication of requests: none, by API token, by the host application, or by session or API token. */
export type AuthMode = 'none' | 'token' | 'host' | 'session';

/** Authentication by sessions (people) and API tokens (programs). */
export interface SessionAuth<A extends Actor, Native = unknown> {
  /** Returns the signed-in user of a request, or null if no user is signed in. */
  readonly session: Authenticate<A, Native>;
  readonly tokens: true;
}

export function authModeOf(auth: string | object): AuthMode {
  if (typeof auth === 'function') return 'host';
  return typeof auth === 'object' ? 'session' : (auth as AuthMode);
}
