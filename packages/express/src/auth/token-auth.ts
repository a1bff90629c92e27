import type { Flags } from '@flags/core';
import { Refusal } from '../errors/refusal.js';
import type { Actor } from '../options.js';
import type { Identify } from './identify.js';
import { kindsFor } from './token-kinds.js';
import { unauthenticated } from './unauthenticated.js';

/** API tokens: the bare secret, as clients of this API send it, or with the scheme `Bearer`. */
export function identifyByToken(flags: Flags): Identify<Actor> {
  return async ({ headers }, access) => {
    const secret = secretIn(headers.authorization);
    if (!secret) throw unauthenticated('Send an API token in the header Authorization.');
    const token = await flags.verifyToken(secret);
    if (token === undefined) throw unauthenticated('The API token is unknown or has expired. Send a valid one.');
    const kinds = kindsFor(access);
    if (!kinds.includes(token.kind)) {
      const wanted = kinds.join(' or ');
      throw new Refusal('forbidden', `This needs a token of kind ${wanted}; ${token.name} is of kind ${token.kind}.`);
    }
    const { name, project, environment } = token;
    return { actor: { name }, scope: { project, environment } };
  };
}

function secretIn(header: string | undefined): string | undefined {
  return header !== undefined && /^bearer\s/i.test(header) ? header.slice('bearer'.length).trimStart() : header;
}
