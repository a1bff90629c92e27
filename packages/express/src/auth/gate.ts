import type { Flags, Token } from '@flags/core';
import type { Request } from 'express';
import type { Action } from '../action.js';
import { askHost } from '../errors/host-fault.js';
import { Refusal } from '../errors/refusal.js';
import type { Actor, Authorize, FlagsRouterOptions, SessionRouterOptions } from '../options.js';
import type { Access } from '../route.js';
import { EVERYTHING, type Scope } from '../scope.js';
import { identifyByHost, identifyBySession } from './host-auth.js';
import type { Identify, Identity } from './identify.js';
import { createOriginCheck, type OriginCheck } from './origin.js';
import { identifyByToken, tokenIn } from './token-auth.js';

/** Somebody who was let in. */
export interface Visitor {
  readonly name: string;
  readonly scope: Scope;
  /** The API token that the visitor uses. */
  readonly token?: Token;
  /** Resolves when the visitor may do this, refuses with `forbidden` otherwise. */
  check(action: Action, project: string | null): Promise<void>;
  /** Whether the visitor would be let in again to do this: a token may have expired, a permission been withdrawn. */
  isStillAdmitted(action: Action, project: string | null): Promise<boolean>;
  /** Whether the token is still valid. Absent where the request carries no secret of a token. */
  readonly hasValidToken?: () => Promise<boolean>;
}

/** Lets a request in, or refuses it with `unauthenticated`, `forbidden` or `cross_origin`. */
export type Gate = (request: Request, access: Access) => Promise<Visitor>;

export type GateOptions<A extends Actor> = FlagsRouterOptions<A> | SessionRouterOptions<A>;

const ANONYMOUS: Identity<Actor> = { actor: { name: 'anonymous' }, scope: EVERYTHING };

export function createGate<A extends Actor>(flags: Flags, options: GateOptions<A>): Gate {
  const { auth } = options;
  const parts = { flags, checkOrigin: createOriginCheck(options) };
  // Which actors `authorize` takes follows from `auth`, by the types of the options.
  const authorize = options.authorize as Authorize<Actor> | undefined;
  if (typeof auth === 'function') return createGateOf<Actor>(identifyByHost(flags, auth), { ...parts, authorize });
  if (typeof auth === 'object') {
    return createGateOf<Actor>(identifyBySession(flags, auth.session), { ...parts, authorize });
  }
  const identify: Identify<Actor> = auth === 'none' ? async () => ANONYMOUS : identifyByToken(flags);
  return createGateOf(identify, { ...parts, authorize });
}

interface GateParts<A extends Actor> {
  readonly flags: Flags;
  readonly checkOrigin: OriginCheck;
  readonly authorize: Authorize<A> | undefined;
}

function createGateOf<A extends Actor>(
  identify: Identify<A>,
  { flags, checkOrigin, authorize = () => true }: GateParts<A>,
): Gate {
  async function check(actor: A, action: Action, project: string | null): Promise<void> {
    if ((await askHost(() => authorize(actor, action, project))) === true) return;
    // The project is not named: the caller may not see which project owns a flag or a segment.
    throw new Refusal('forbidden', `${actor.name} may not ${action} here. Ask for the permission.`);
  }

  return async (request, access) => {
    const { actor, scope, token, hasSecret } = await identify(request, access);
    if (!hasSecret) checkOrigin(request, access);
    return {
      name: actor.name,
      scope,
      ...(token && { token }),
      check: (action, project) => check(actor, action, project),
      isStillAdmitted: (action, project) =>
        identify(request, access)
          .then((present) => check(present.actor, action, project))
          .then(() => true, isFault),
      ...(hasSecret && { hasValidToken: () => tokenIn(request, flags).then((found) => found !== undefined, isFault) }),
    };
  };
}

/** A fault says nothing of the visitor: only a refusal does. */
function isFault(error: unknown): boolean {
  return !(error instanceof Refusal);
}
