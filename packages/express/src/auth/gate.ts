import type { Flags } from '@flags/core';
import type { Request } from 'express';
import type { Action } from '../action.js';
import { Refusal } from '../errors/refusal.js';
import type { Actor, Authorize, FlagsRouterOptions } from '../options.js';
import type { Access } from '../route.js';
import { identifyByHost } from './host-auth.js';
import { identifyByToken } from './token-auth.js';

/** Somebody who was let in. */
export interface Visitor {
  readonly name: string;
  /** Resolves when the visitor may do this, refuses with `forbidden` otherwise. */
  check(action: Action, project: string | null): Promise<void>;
}

/** Lets a request in, or refuses it with `unauthenticated` or `forbidden`. */
export type Gate = (request: Request, access: Access) => Promise<Visitor>;

export type Identify<A extends Actor> = (request: Request, access: Access) => Promise<A>;

const ANONYMOUS: Actor = { name: 'anonymous' };

export function createGate<A extends Actor>(flags: Flags, options: FlagsRouterOptions<A>): Gate {
  if (options.auth === 'none') return gateOf(async () => ANONYMOUS, options.authorize);
  if (options.auth === 'token') return gateOf(identifyByToken(flags), options.authorize);
  return gateOf(identifyByHost(options.auth), options.authorize);
}

function gateOf<A extends Actor>(identify: Identify<A>, authorize: Authorize<A> = () => true): Gate {
  return async (request, access) => {
    const actor = await identify(request, access);
    return {
      name: actor.name,
      async check(action, project) {
        if ((await authorize(actor, action, project)) === true) return;
        const place = project === null ? '' : ` in project ${project}`;
        throw new Refusal('forbidden', `${actor.name} may not ${action}${place}. Ask for the permission.`);
      },
    };
  };
}
