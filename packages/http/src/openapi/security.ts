import { TOKEN_KINDS } from '@flags/core';
import { kindsFor } from '../auth.js';
import type { AuthMode } from '../options.js';
import type { Access } from '../permissions.js';
import type { Route } from '../route.js';

/** An empty requirement beside the others says that authentication is optional. */
export function securityFor({ access, isOpen }: Route, auth: AuthMode): readonly object[] {
  const requirements = securityOf(access, auth);
  return isOpen && requirements.length > 0 ? [...requirements, {}] : requirements;
}

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

/** The other header that OFREP clients send. */
const OFREP_KEY = {
  ofrepApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API token of kind client or frontend, for OFREP only.',
  },
};

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
  token: { ...TOKENS, ...OFREP_KEY },
  host: HOST,
  session: { ...HOST, ...TOKENS, ...OFREP_KEY },
};

export function securitySchemes(auth: AuthMode): Readonly<Record<string, object>> {
  return SCHEMES[auth];
}

/** Returns the security requirements of an operation; empty when it needs no authentication. */
function securityOf(access: Access, auth: AuthMode): readonly Readonly<Record<string, readonly string[]>>[] {
  if (auth === 'none') return [];
  if (auth === 'host') return [{ hostApplication: [] }];
  const byToken: Readonly<Record<string, readonly string[]>>[] = kindsFor(access).map((kind) => ({
    [`${kind}Token`]: [],
  }));
  if (access === 'ofrep') byToken.push({ ofrepApiKey: [] });
  return auth === 'session' && access === 'admin' ? [{ hostApplication: [] }, ...byToken] : byToken;
}
