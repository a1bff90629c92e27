import { createHash } from 'node:crypto';
import type { Row } from '../row.js';
import { NOW } from '../states.js';

const TOKENS = '/api/admin/api-tokens';
const TO_BE_DELETED = 'a-secret-that-is-to-be-deleted-at-once';
/** The id of the token with this secret. */
const ROTATED = createHash('sha256').update(TO_BE_DELETED).digest('hex').slice(0, 32);
const ADMIN = {
  id: expect.any(String),
  tokenName: 'administrator',
  username: 'administrator',
  type: 'admin',
  project: '*',
  projects: ['*'],
  environment: '*',
  createdAt: NOW,
  expiresAt: null,
  lastUsedAt: null,
  createdBy: null,
};

function refused(name: string, body: unknown, expected: Row['expect']): Row {
  return { endpoint: 'createToken', name, request: { method: 'POST', path: TOKENS, body }, expect: expected };
}

const INVALID = { status: 400, code: 'invalid_input' } as const;

export const tokenRows: readonly Row[] = [
  {
    endpoint: 'listTokens',
    name: 'lists tokens without their secrets',
    request: { method: 'GET', path: TOKENS },
    expect: {
      status: 200,
      unchanged: true,
      body: {
        tokens: expect.arrayContaining([
          ADMIN,
          { ...ADMIN, tokenName: 'client', username: 'client', type: 'client', environment: 'production' },
        ]),
      },
    },
  },
  {
    endpoint: 'createToken',
    name: 'creates a token, and shows its secret',
    request: {
      method: 'POST',
      path: TOKENS,
      body: { tokenName: 'web', type: 'client', project: 'default', environment: 'production', expiresAt: null },
    },
    expect: {
      status: 201,
      body: {
        ...ADMIN,
        tokenName: 'web',
        username: 'web',
        type: 'client',
        project: 'default',
        projects: ['default'],
        environment: 'production',
        secret: expect.stringMatching(/^default:production\.[0-9a-f]{40,}$/),
      },
    },
  },
  refused('requires a name', { type: 'admin' }, INVALID),
  refused('refuses an unknown kind', { tokenName: 'a', type: 'root' }, INVALID),
  refused(
    'refuses a name that a token of its kind has',
    { tokenName: 'administrator', type: 'admin' },
    {
      status: 409,
      code: 'token_exists',
    },
  ),
  refused('refuses the name of the library itself', { tokenName: 'system', type: 'admin' }, INVALID),
  refused('refuses every environment for clients', { tokenName: 'a', type: 'client', environment: '*' }, INVALID),
  refused('refuses an invalid time', { tokenName: 'a', type: 'admin', expiresAt: 'soon' }, INVALID),
  refused(
    'does not find an unknown project',
    { tokenName: 'a', type: 'client', project: 'unknown', environment: 'production' },
    { status: 404, code: 'project_not_found' },
  ),
  refused(
    'does not find an unknown environment',
    { tokenName: 'a', type: 'client', environment: 'unknown' },
    { status: 404, code: 'environment_not_found' },
  ),
  {
    endpoint: 'rotateToken',
    name: 'replaces a token, and shows the new secret',
    given: (flags) => flags.tokens.create({ name: 'web', kind: 'client', secret: TO_BE_DELETED }),
    request: { method: 'POST', path: `${TOKENS}/rotate`, body: { id: ROTATED, overlap: 60_000 } },
    expect: {
      status: 201,
      body: {
        ...{ ...ADMIN, tokenName: 'web', username: 'web', type: 'client', environment: 'production' },
        secret: expect.stringMatching(/^\*:production\.[0-9a-f]{48}$/),
      },
      afterwards: async (flags) => {
        const old = await flags.verifyToken(TO_BE_DELETED);
        expect(old?.expiresAt).toBe('2026-03-01T12:01:00.000Z');
      },
    },
  },
  {
    endpoint: 'rotateToken',
    name: 'refuses a second rotation',
    given: async (flags) => {
      const { token } = await flags.tokens.create({ name: 'web', kind: 'client', secret: TO_BE_DELETED });
      await flags.tokens.rotate({ token: token.id });
    },
    request: { method: 'POST', path: `${TOKENS}/rotate`, body: { id: ROTATED } },
    expect: { status: 409, code: 'token_exists' },
  },
  {
    endpoint: 'rotateToken',
    name: 'does not find an unknown token',
    request: { method: 'POST', path: `${TOKENS}/rotate`, body: { id: 'unknown' } },
    expect: { status: 404, code: 'token_not_found' },
  },
  {
    endpoint: 'rotateToken',
    name: 'refuses an overlap that is not a number',
    request: { method: 'POST', path: `${TOKENS}/rotate`, body: { id: ROTATED, overlap: '1h' } },
    expect: { status: 400, code: 'invalid_input' },
  },
  ...[ROTATED, TO_BE_DELETED].map(
    (token): Row => ({
      endpoint: 'updateToken',
      name: `changes when a token expires, named by ${token === ROTATED ? 'its id' : 'its secret'}`,
      given: (flags) => flags.tokens.create({ name: 'web', kind: 'client', secret: TO_BE_DELETED }),
      request: { method: 'PUT', path: `${TOKENS}/${token}`, body: { expiresAt: '2026-03-02T00:00:00Z' } },
      expect: {
        status: 200,
        body: null,
        afterwards: async (flags) => {
          expect(await flags.verifyToken(TO_BE_DELETED)).toMatchObject({ expiresAt: '2026-03-02T00:00:00.000Z' });
          const { items: events } = await flags.events.list({ type: 'token-updated' });
          expect(events).toMatchObject([
            { data: { expiresAt: '2026-03-02T00:00:00.000Z' }, before: { expiresAt: null } },
          ]);
        },
      },
    }),
  ),
  {
    endpoint: 'updateToken',
    name: 'changes nothing when the time is the same',
    given: (flags) => flags.tokens.create({ name: 'web', kind: 'client', secret: TO_BE_DELETED }),
    request: { method: 'PUT', path: `${TOKENS}/${ROTATED}`, body: { expiresAt: null } },
    expect: { status: 200, body: null, unchanged: true },
  },
  {
    endpoint: 'updateToken',
    name: 'refuses an invalid time',
    given: (flags) => flags.tokens.create({ name: 'web', kind: 'client', secret: TO_BE_DELETED }),
    request: { method: 'PUT', path: `${TOKENS}/${ROTATED}`, body: { expiresAt: 'soon' } },
    expect: INVALID,
  },
  {
    endpoint: 'updateToken',
    name: 'requires a time',
    given: (flags) => flags.tokens.create({ name: 'web', kind: 'client', secret: TO_BE_DELETED }),
    request: { method: 'PUT', path: `${TOKENS}/${ROTATED}`, body: {} },
    expect: INVALID,
  },
  {
    endpoint: 'updateToken',
    name: 'does not find an unknown token',
    request: { method: 'PUT', path: `${TOKENS}/unknown`, body: { expiresAt: null } },
    expect: { status: 404, code: 'token_not_found' },
  },
  {
    endpoint: 'deleteToken',
    name: 'deletes a token',
    given: (flags) => flags.tokens.create({ name: 'web', kind: 'admin', secret: TO_BE_DELETED }),
    request: { method: 'DELETE', path: `${TOKENS}/${TO_BE_DELETED}` },
    expect: {
      status: 200,
      body: null,
      afterwards: async (flags) => expect(await flags.verifyToken(TO_BE_DELETED)).toBeUndefined(),
    },
  },
  {
    endpoint: 'deleteToken',
    name: 'does not find an unknown token',
    request: { method: 'DELETE', path: `${TOKENS}/unknown` },
    expect: { status: 404, code: 'token_not_found' },
  },
];
