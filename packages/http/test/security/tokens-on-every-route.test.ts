import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { CreatedToken, TokenKind } from '@flags/core';
import { kindsFor } from '../../src/auth.js';
import type { Route } from '../../src/route.js';
import { ROUTES } from '../../src/routes/all-routes.js';
import { type LiveServer, startLiveServer } from '../client/live-server.js';
import { createOn } from '../client/states.js';
import { actionOf } from '../contract/endpoints.js';
import { everythingIn } from '../contract/everything.js';
import { WRITTEN_ROWS } from '../contract/rows/all-rows.js';

/** In the project default and in production: nobody outside may learn of it. */
const SECRET_FLAG = 'unannounced-merger';
const KINDS: readonly TokenKind[] = ['admin', 'client', 'frontend'];

/** One route answers everybody: the tests of the session ask it. */
const rows = ROUTES.filter(({ isOpen }) => !isOpen).map((route) => [`${route.method} ${route.path}`, route] as const);
const scopedRows = rows.filter(([, { access }]) => access !== 'admin');

let server: LiveServer;
let now: Date;
let tokens: Map<string, CreatedToken>;

beforeAll(async () => {
  now = new Date('2026-01-01T10:00:00Z');
  server = await startLiveServer({ router: { auth: 'token' }, flags: { now: () => now, usageInterval: 0 } });
  const { flags } = server;
  await flags.createProject({ id: 'shop', name: 'Shop' });
  await createOn(flags, { name: SECRET_FLAG });
  await createOn(flags, { name: 'basket' }, 'shop');
  tokens = new Map();
  for (const kind of KINDS) {
    const environment = kind === 'admin' ? {} : { environment: 'production' };
    const input = { name: kind, kind, ...environment };
    tokens.set(`${kind} valid`, await flags.createToken(input));
    const expired = { ...input, name: 'expired', expiresAt: '2026-01-01T10:00:00Z' };
    tokens.set(`${kind} expired`, await flags.createToken(expired));
    const deleted = await flags.createToken({ ...input, name: 'deleted' });
    await flags.deleteToken({ token: deleted.token.id });
    tokens.set(`${kind} deleted`, deleted);
    if (kind === 'admin') continue;
    tokens.set(`${kind} of another project`, await flags.createToken({ ...input, name: 'shop', project: 'shop' }));
    const elsewhere = { ...input, name: 'elsewhere', environment: 'development' };
    tokens.set(`${kind} of another environment`, await flags.createToken(elsewhere));
  }
});

afterAll(() => server.stop());

function secretOf(name: string): string {
  return tokens.get(name)?.secret ?? '';
}

interface Attempt {
  readonly authorization: string | undefined;
  /** Put for every parameter of the path. */
  readonly name?: string;
}

/** Sends what the route would take, and reads the answer, or as much of a stream as comes with its head. */
async function attempt(route: Route, { authorization, name = 'x' }: Attempt) {
  const body = bodyFor(route);
  const asked = request(`${server.url}${route.path.replaceAll(/:\w+/g, name)}`, {
    method: route.method,
    agent: false,
    headers: {
      ...(authorization !== undefined && { authorization }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
  });
  asked.on('error', () => undefined);
  asked.end(body);
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    if (isStream(response)) break;
  }
  asked.destroy();
  return { status: response.statusCode, headers: response.headers, text };
}

function isStream({ headers }: IncomingMessage): boolean {
  return headers['content-type'] === 'text/event-stream';
}

function bodyFor({ action, body }: Route): string | undefined {
  if (body === undefined) return undefined;
  const row = WRITTEN_ROWS.find(({ endpoint, expect: { code } }) => actionOf(endpoint) === action && !code);
  return JSON.stringify(row?.request.body ?? {});
}

async function expectUnauthenticated(route: Route, authorization: string | undefined): Promise<void> {
  const { status, headers, text } = await attempt(route, { authorization });
  expect([status, JSON.parse(text).code, headers['www-authenticate']]).toEqual([401, 'unauthenticated', 'Bearer']);
  if (authorization) expect(text).not.toContain(authorization);
}

describe.each(rows)('%s', (_, route) => {
  const right = () => kindsFor(route.access)[0] ?? 'admin';

  afterAll(async () => {
    expect((await server.flags.getFlag({ project: 'default', flag: SECRET_FLAG })).revision).toBe(3);
  });

  it('answers 401 without a token', () => expectUnauthenticated(route, undefined));

  it('answers 401 to wrong and malformed tokens', async () => {
    const secret = secretOf(`${right()} valid`);
    const id = tokens.get(`${right()} valid`)?.token.id;
    const wrong = [secret.slice(0, -1), `${secret}0`, secret.toUpperCase(), id, '*:*.', '', 'Bearer', 'Bearer null'];
    for (const one of [...wrong, `Basic ${secret}`, `Bearer "${secret}"`, `Token ${secret}`, '__proto__', '\u00ff']) {
      await expectUnauthenticated(route, one);
    }
  });

  it('answers 401 to expired and deleted tokens', async () => {
    await expectUnauthenticated(route, secretOf(`${right()} expired`));
    await expectUnauthenticated(route, `Bearer ${secretOf(`${right()} deleted`)}`);
  });

  it('answers 403 to tokens of other kinds', async () => {
    const others = KINDS.filter((kind) => !kindsFor(route.access).includes(kind));
    expect(others).not.toEqual([]);
    for (const kind of others) {
      const { status, text } = await attempt(route, { authorization: secretOf(`${kind} valid`) });
      expect([status, JSON.parse(text).code]).toEqual([403, 'forbidden']);
    }
  });
});

describe.each(scopedRows)('%s', (_, route) => {
  it('hides flags from tokens of other projects', async () => {
    for (const kind of kindsFor(route.access)) {
      const authorization = secretOf(`${kind} of another project`);
      const there = await attempt(route, { authorization, name: SECRET_FLAG });
      const nowhere = await attempt(route, { authorization, name: 'no-such-flag-at-all' });
      expect(there.text.replaceAll(SECRET_FLAG, 'no-such-flag-at-all')).toBe(nowhere.text);
      expect(there.status).toBe(nowhere.status);
      if (!route.path.includes(':')) expect(there.text).not.toContain(SECRET_FLAG);
    }
  });

  it('hides the state of flags from tokens of other environments', async () => {
    for (const kind of kindsFor(route.access)) {
      const authorization = secretOf(`${kind} of another environment`);
      const { text } = await attempt(route, { authorization, name: SECRET_FLAG });
      expect(text).not.toMatch(/"enabled":true|"value":true/);
    }
  });
});

describe('a token of the right kind, project and environment', () => {
  it.each(['/api/client/features', '/api/client/streaming', '/api/frontend'])(
    'does learn of the flag: %s',
    async (path) => {
      const route = ROUTES.find((one) => one.path === path) as Route;
      const { text } = await attempt(route, { authorization: secretOf(`${kindsFor(route.access)[0]} valid`) });
      expect(text).toContain(SECRET_FLAG);
      expect(text).toContain('"enabled":true');
    },
  );
});

describe('the administration', () => {
  it('does not create admin tokens for one project or environment: the scope would have no effect', async () => {
    for (const scope of [{ project: 'shop' }, { environment: 'production' }]) {
      const created = server.flags.createToken({ name: 'a', kind: 'admin', ...scope });
      await expect(created).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });

  it('is not changed by any of this', async () => {
    const before = await everythingIn(server.flags);
    for (const [, route] of rows) await attempt(route, { authorization: 'wrong' });
    expect(await everythingIn(server.flags)).toEqual(before);
  });
});
