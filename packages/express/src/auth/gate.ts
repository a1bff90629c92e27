import type { Flags } from '@flags/core';
import type { Request } from 'express';
import type { Action } from '../action.js';
import { askHost } from '../errors/host-fault.js';
import { Refusal } from '../errors/refusal.js';
import type { Actor, Authorize, FlagsRouterOptions } from '../options.js';
import type { Access } from '../route.js';
import { EVERYTHING, type Scope } from '../scope.js';
import { identifyByHost } from './host-auth.js';
import type { Identify, Identity } from './identify.js';
import { identifyByToken } from './token-auth.js';

/** Somebody who was let in. */
export interface Visitor {
  readonly name: string;
  readonly scope: Scope;
  /** Resolves when the visitor may do this, refuses with `forbidden` otherwise. */
  check(action: Action, project: string | null): Promise<void>;
  /** Whether the visitor would be let in again to do this: a token may have expired, a permission been withdrawn. */
  isStillAdmitted(action: Action, project: string | null): Promise<boolean>;
}

/** Lets a request in, or refuses it with `unauthenticated` or `forbidden`. */
export type Gate = (request: Request, access: Access) => Promise<Visitor>;

const ANONYMOUS: Identity<Actor> = { actor: { name: 'anonymous' }, scope: EVERYTHING };

export function createGate<A extends Actor>(flags: Flags, { auth, authorize }: FlagsRouterOptions<A>): Gate {
  if (typeof auth === 'function') return gateOf(identifyByHost(auth), authorize);
  const identify: Identify<Actor> = auth === 'none' ? async () => ANONYMOUS : identifyByToken(flags);
  // A is inferred from the host's function alone: where there is none, A is Actor.
  return gateOf(identify, authorize as Authorize<Actor> | undefined);
}

function gateOf<A extends Actor>(identify: Identify<A>, authorize: Authorize<A> = () => true): Gate {
  async function check(actor: A, action: Action, project: string | null): Promise<void> {
    if ((await askHost(() => authorize(actor, action, project))) === true) return;
    const place = project === null ? '' : ` in project ${project}`;
    throw new Refusal('forbidden', `${actor.name} may not ${action}${place}. Ask for the permission.`);
  }

  return async (request, access) => {
    const { actor, scope } = await identify(request, access);
    return {
      name: actor.name,
      scope,
      check: (action, project) => check(actor, action, project),
      isStillAdmitted: (action, project) =>
        identify(request, access)
          .then((present) => check(present.actor, action, project))
          .then(() => true, isFault),
    };
  };
}

/** A fault says nothing of the visitor: only a refusal does. */
function isFault(error: unknown): boolean {
  return !(error instanceof Refusal);
}
