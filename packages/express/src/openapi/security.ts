import { kindsFor } from '../auth/token-kinds.js';
import type { Access } from '../route.js';

/** How requests are authenticated: not at all, by API tokens, or by the host application. */
export type AuthMode = 'none' | 'token' | 'host';

const SCHEMES: Readonly<Record<AuthMode, Readonly<Record<string, object>>>> = {
  none: {},
  token: {
    adminToken: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: 'An API token of kind admin, bare or after the word Bearer.',
    },
    clientToken: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: 'An API token of kind client, bare or after the word Bearer.',
    },
    frontendToken: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: 'An API token of kind frontend, bare or after the word Bearer.',
    },
  },
  host: {
    hostApplication: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: 'Whatever the application that this API is part of asks for: a session, a header or a certificate.',
    },
  },
};

export function securitySchemes(auth: AuthMode): Readonly<Record<string, object>> {
  return SCHEMES[auth];
}

/** What an operation asks for; empty: nothing. */
export function securityOf(access: Access, auth: AuthMode): readonly Readonly<Record<string, readonly string[]>>[] {
  if (auth === 'none') return [];
  if (auth === 'host') return [{ hostApplication: [] }];
  return kindsFor(access).map((kind) => ({ [`${kind}Token`]: [] }));
}
