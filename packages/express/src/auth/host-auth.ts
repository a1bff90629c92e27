import type { Flags, Token } from '@flags/core';
import { askHost } from '../errors/host-fault.js';
import type { Actor, Authenticate } from '../options.js';
import { EVERYTHING } from '../scope.js';
import type { Identify } from './identify.js';
import { identifyByToken, identityOf, isToken, tokenIn } from './token-auth.js';
import { unauthenticated } from './unauthenticated.js';

/**
 * The host application's own users. When the host's function returns an API token, the rules of tokens hold: its kind has
 * to fit, and the request sees the token's projects and environment.
 */
export function identifyByHost<A extends Actor>(flags: Flags, authenticate: Authenticate<A>): Identify<A> {
  return async (request, access) => {
    const actor = await askHost(() => authenticate(request));
    if (actor === null || actor === undefined) throw unauthenticated('Sign in first.');
    if (typeof actor.name !== 'string' || actor.name === '') {
      throw new TypeError('createFlagsRouter: auth must give an actor with a name, or null.');
    }
    if (!isToken(actor)) return { actor, scope: EVERYTHING };
    const identity = identityOf(actor, access);
    const sent = await tokenIn(request, flags);
    return sent?.id === actor.id ? { ...identity, hasSecret: true } : identity;
  };
}

/** Sessions of people for the administration, and API tokens for it and for everything else. */
export function identifyBySession<A extends Actor>(flags: Flags, session: Authenticate<A>): Identify<A | Token> {
  const byToken = identifyByToken(flags);
  const byHost = identifyByHost(flags, session);
  return async (request, access) => {
    if (access !== 'admin' || (await tokenIn(request, flags))) return byToken(request, access);
    return byHost(request, access);
  };
}
