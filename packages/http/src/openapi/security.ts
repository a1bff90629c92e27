import { TOKEN_KINDS } from '@flags/core';
import { kindsFor } from '../auth.js';
import type { AuthMode } from '../options.js';
import type { Access } from '../permissions.js';

const TOKENS: Readonly<Record<string, object>> = Object.fromEntries(
  TOKEN_KINDS.map((kind) => [
    `${kind}Token`,
    {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: `An API token of kind ${kind}, bare or after the word Bearer.`,
    },
  ]),
);

const HOST: Readonly<Record<string, object>> = {
  hostApplication: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'Whatever the application that this API is part of asks for: a session, a header or a certificate.',
  },
};

const SCHEMES: Readonly<Record<AuthMode, Readonly<Record<string, object>>>> = {
  none: {},
  token: TOKENS,
  host: HOST,
  session: { ...HOST, ...TOKENS },
};

export function securitySchemes(auth: AuthMode): Readonly<Record<string, object>> {
  return SCHEMES[auth];
}

/** Returns the security requirements of an operation; empty when it needs no authentication. */
export function securityOf(access: Access, auth: AuthMode): readonly Readonly<Record<string, readonly string[]>>[] {
  if (auth === 'none') return [];
  if (auth === 'host') return [{ hostApplication: [] }];
  const byToken = kindsFor(access).map((kind) => ({ [`${kind}Token`]: [] }));
  return auth === 'session' && access === 'admin' ? [{ hostApplication: [] }, ...byToken] : byToken;
}
