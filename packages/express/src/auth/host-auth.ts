import { askHost } from '../errors/host-fault.js';
import type { Actor, Authenticate } from '../options.js';
import { EVERYTHING } from '../scope.js';
import type { Identify } from './identify.js';
import { unauthenticated } from './unauthenticated.js';

/** The host application's own users. */
export function identifyByHost<A extends Actor>(authenticate: Authenticate<A>): Identify<A> {
  return async (request) => {
    const actor = await askHost(() => authenticate(request));
    if (actor === null || actor === undefined) throw unauthenticated('Sign in first.');
    if (typeof actor.name !== 'string' || actor.name === '') {
      throw new TypeError('createFlagsRouter: auth must give an actor with a name, or null.');
    }
    return { actor, scope: EVERYTHING };
  };
}
