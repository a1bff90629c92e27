import { type Flags, TOKEN_KINDS, type Token } from '@flags/core';
import type { Request } from 'express';
import { Refusal } from '../errors/refusal.js';
import type { Access } from '../route.js';
import { scopeOf } from '../scope.js';
import type { Identify, Identity } from './identify.js';
import { kindsFor } from './token-kinds.js';
import { unauthenticated } from './unauthenticated.js';

/** API tokens: the bare secret, as clients of this API send it, or with the scheme `Bearer`. */
export function identifyByToken(flags: Flags): Identify<Token> {
  return async (request, access) => {
    if (!secretIn(request)) throw unauthenticated('Send an API token in the header Authorization.');
    const token = await tokenIn(request, flags);
    if (token === undefined) throw unauthenticated('The API token is unknown or has expired. Send a valid one.');
    return { ...identityOf(token, access), hasSecret: true };
  };
}

/** The valid token whose secret the request carries. */
export async function tokenIn(request: Request, flags: Flags): Promise<Token | undefined> {
  const secret = secretIn(request);
  return secret ? flags.verifyToken(secret) : undefined;
}

/** Refuses a token of a kind that this part of the API does not take. */
export function identityOf<A extends Token>(token: A, access: Access): Identity<A> {
  const kinds = kindsFor(access);
  if (!kinds.includes(token.kind)) {
    const wanted = kinds.join(' or ');
    throw new Refusal('forbidden', `This needs a token of kind ${wanted}; ${token.name} is of kind ${token.kind}.`);
  }
  return { actor: token, scope: scopeOf(token), token };
}

/**
 * Whether a function of the host's has returned an API token, or a copy of one, as the actor. Its members are compared: a
 * user type of the host's may have a `kind` as well.
 */
export function isToken(actor: object): actor is Token {
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

function secretIn({ headers: { authorization: header } }: Request): string | undefined {
  return header !== undefined && /^bearer\s/i.test(header) ? header.slice('bearer'.length).trimStart() : header;
}
