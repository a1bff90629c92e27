import { type Flags, TOKEN_KINDS, type Token, type TokenKind } from '@flags/core';
import { callHost, HttpError } from './errors.js';
import type { Actor, Authenticate, Authorize, FlagsApiOptions, SessionApiOptions } from './options.js';
import { createOriginCheck, type OriginCheck } from './origin.js';
import { type Action, EVERYTHING, type Scope, scopeOf } from './permissions.js';
import type { FlagsRequest } from './request.js';
import type { Access } from './route.js';

/** Tokens of any of these kinds are let in. */
export function kindsFor(access: Access): readonly TokenKind[] {
  return access === 'ofrep' ? ['client', 'frontend'] : [access];
}

/** HTTP asks that a 401 names a scheme. */
function unauthenticated(message: string): HttpError {
  return new HttpError('unauthenticated', message, { 'www-authenticate': 'Bearer' });
}

/** API tokens: the bare secret, as clients of this API send it, or with the scheme `Bearer`. */
function identifyByToken(flags: Flags): Identify<Token, unknown> {
  return async (request, access) => {
    if (!secretIn(request)) throw unauthenticated('Send an API token in the header Authorization.');
    const token = await tokenIn(request, flags);
    if (token === undefined) throw unauthenticated('The API token is unknown or has expired. Send a valid one.');
    return { ...identityOf(token, access), hasSecret: true };
  };
}

/** The valid token whose secret the request carries. */
async function tokenIn(request: Pick<FlagsRequest, 'headers'>, flags: Flags): Promise<Token | undefined> {
  const secret = secretIn(request);
  return secret ? flags.verifyToken(secret) : undefined;
}

/** Refuses a token of a kind that this part of the API does not take. */
function identityOf<A extends Token>(token: A, access: Access): Identity<A> {
  const kinds = kindsFor(access);
  if (!kinds.includes(token.kind)) {
    const wanted = kinds.join(' or ');
    throw new HttpError('forbidden', `This needs a token of kind ${wanted}; ${token.name} is of kind ${token.kind}.`);
  }
  return { actor: token, scope: scopeOf(token), token };
}

/**
 * Whether a function of the host's has returned an API token, or a copy of one, as the actor. Its members are compared: a
 * user type of the host's may have a `kind` as well.
 */
function isToken(actor: object): actor is Token {
  const { id, kind, projects, environment, createdAt, expiresAt } = actor as Partial<Record<keyof Token, unknown>>;
  return (
    typeof id === 'string' &&
    /^[0-9a-f]{32}$/.test(id) &&
    TOKEN_KINDS.some((one) => one === kind) &&
    Array.isArray(projects) &&
    typeof environment === 'string' &&
    typeof createdAt === 'string' &&
    expiresAt !== undefined
  );
}

function secretIn({ headers: { authorization: header } }: Pick<FlagsRequest, 'headers'>): string | undefined {
  return header !== undefined && /^bearer\s/i.test(header) ? header.slice('bearer'.length).trimStart() : header;
}

/**
 * The host application's own users. When the host's function returns an API token, the rules of tokens hold: its kind has
 * to fit, and the request sees the token's projects and environment.
 */
function identifyByHost<A extends Actor, Native>(
  flags: Flags,
  authenticate: Authenticate<A, Native>,
  caller: string,
): Identify<A, Native> {
  return async (request, access) => {
    const actor = await callHost(() => authenticate(request.native));
    if (actor === null || actor === undefined) throw unauthenticated('Sign in first.');
    if (typeof actor.name !== 'string' || actor.name === '') {
      throw new TypeError(`${caller}: auth must give an actor with a name, or null.`);
    }
    if (!isToken(actor)) return { actor, scope: EVERYTHING };
    const identity = identityOf(actor, access);
    const sent = await tokenIn(request, flags);
    return sent?.id === actor.id ? { ...identity, hasSecret: true } : identity;
  };
}

/** Sessions of people for the administration, and API tokens for it and for everything else. */
function identifyBySession<A extends Actor, Native>(
  flags: Flags,
  session: Authenticate<A, Native>,
  caller: string,
): Identify<A | Token, Native> {
  const byToken = identifyByToken(flags);
  const byHost = identifyByHost(flags, session, caller);
  return async (request, access) => {
    if (access !== 'admin' || (await tokenIn(request, flags))) return byToken(request, access);
    return byHost(request, access);
  };
}

/** Somebody who was let in. */
export interface Principal {
  readonly name: string;
  readonly scope: Scope;
  /** The API token that the visitor uses. */
  readonly token?: Token;
  /** Resolves when the visitor may do this, refuses with `forbidden` otherwise. */
  check(action: Action, project: string | null): Promise<void>;
  /** Whether the visitor would be let in again to do this: a token may have expired, a permission been withdrawn. */
  isStillAllowed(action: Action, project: string | null): Promise<boolean>;
  /** Whether the token is still valid. Absent where the request carries no secret of a token. */
  readonly hasValidToken?: () => Promise<boolean>;
}

/** Lets a request in, or refuses it with `unauthenticated`, `forbidden` or `cross_origin`. */
export type Gate<Native> = (request: FlagsRequest<Native>, access: Access) => Promise<Principal>;

export type GateOptions<A extends Actor, Native> = FlagsApiOptions<A, Native> | SessionApiOptions<A, Native>;

const ANONYMOUS: Identity<Actor> = { actor: { name: 'anonymous' }, scope: EVERYTHING };

export function createGate<A extends Actor, Native>(
  flags: Flags,
  options: GateOptions<A, Native>,
  caller: string,
): Gate<Native> {
  const { auth } = options;
  const parts = { flags, checkOrigin: createOriginCheck(options) };
  // Which actors `authorize` takes follows from `auth`, by the types of the options.
  const authorize = options.authorize as Authorize<Actor> | undefined;
  if (typeof auth === 'function')
    return createGateOf<Actor, Native>(identifyByHost(flags, auth, caller), { ...parts, authorize });
  if (typeof auth === 'object') {
    return createGateOf<Actor, Native>(identifyBySession(flags, auth.session, caller), { ...parts, authorize });
  }
  const identify: Identify<Actor, Native> = auth === 'none' ? async () => ANONYMOUS : identifyByToken(flags);
  return createGateOf(identify, { ...parts, authorize });
}

interface GateParts<A extends Actor> {
  readonly flags: Flags;
  readonly checkOrigin: OriginCheck;
  readonly authorize: Authorize<A> | undefined;
}

function createGateOf<A extends Actor, Native>(
  identify: Identify<A, Native>,
  { flags, checkOrigin, authorize = () => true }: GateParts<A>,
): Gate<Native> {
  async function check(actor: A, action: Action, project: string | null): Promise<void> {
    if ((await callHost(() => authorize(actor, action, project))) === true) return;
    // The project is not named: the caller may not see which project owns a flag or a segment.
    throw new HttpError('forbidden', `${actor.name} may not ${action} here. Ask for the permission.`);
  }

  return async (request, access) => {
    const { actor, scope, token, hasSecret } = await identify(request, access);
    if (!hasSecret) checkOrigin(request, access);
    return {
      name: actor.name,
      scope,
      ...(token && { token }),
      check: (action, project) => check(actor, action, project),
      isStillAllowed: (action, project) =>
        identify(request, access)
          .then((present) => check(present.actor, action, project))
          .then(() => true, isFault),
      ...(hasSecret && { hasValidToken: () => tokenIn(request, flags).then((found) => found !== undefined, isFault) }),
    };
  };
}

/** A fault says nothing of the visitor: only a refusal does. */
function isFault(error: unknown): boolean {
  return !(error instanceof HttpError);
}

export interface Identity<A extends Actor> {
  readonly actor: A;
  readonly scope: Scope;
  /** The API token that the actor is. */
  readonly token?: Token;
  /**
   * The header `Authorization` holds the secret of that token: no browser sends it by itself, so the request is not forged
   * by a page of another origin.
   */
  readonly hasSecret?: true;
}

/** Tells who makes a request, or refuses it with `unauthenticated` or `forbidden`. */
export type Identify<A extends Actor, Native> = (request: FlagsRequest<Native>, access: Access) => Promise<Identity<A>>;
