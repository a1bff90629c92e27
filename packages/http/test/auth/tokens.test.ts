import { once } from 'node:events';
import { type IncomingMessage, request as requestOfNode } from 'node:http';
import type { CreatedToken, TokenKind } from '@flags/core';
import request from 'supertest';
import { withFakeTime } from '../../../core/test/fake-time.js';
import { permissionOf } from '../../src/actions.js';
import type { Route } from '../../src/api/route.js';
import { kindsFor } from '../../src/auth/auth.js';
import { ROUTES } from '../../src/routes.js';
import { type LiveServer, startLiveServer } from '../client/live-server.js';
import { createOn } from '../client/states.js';
import { actionOf } from '../contract/endpoints.js';
import { everythingIn } from '../contract/everything.js';
import { WRITTEN_ROWS } from '../contract/rows/all-rows.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp, FLAGS } from '../host-app.js';

describe('authentication by token', () => {
  const REGISTRATION = { appName: 'web', strategies: [], started: '2026-01-01T10:00:00Z', interval: 1000 };

  async function createGuardedApp(version = EXPRESS_VERSIONS[1]) {
    let now = new Date('2026-01-01T10:00:00Z');
    const host = await createHostApp({
      ...(version && { version }),
      router: { auth: 'token' },
      flags: { now: () => now },
    });
    const createSecret = async (kind: TokenKind, expiresAt: string | null = null, ...names: string[]) => {
      const environment = kind === 'admin' ? {} : { environment: 'production' };
      return (await host.flags.tokens.create({ name: names.pop() ?? `the ${kind}`, kind, expiresAt, ...environment }))
        .secret;
    };
    return { ...host, createSecret, setNow: (time: string) => (now = new Date(time)) };
  }

  describe.each(EXPRESS_VERSIONS)('API tokens, on Express $major', (version) => {
    it('accept the bare token and the scheme Bearer, in any case', async () => {
      const { app, createSecret } = await createGuardedApp(version);
      const secret = await createSecret('admin');
      for (const header of [secret, `Bearer ${secret}`, `bearer ${secret}`, `BEARER   ${secret}`]) {
        await request(app).get(FLAGS).set('Authorization', header).expect(200);
      }
    });

    it.each<[string, string | undefined]>([
      ['no header', undefined],
      ['an empty header', ''],
      ['a scheme alone', 'Bearer'],
      ['an unknown token', '*:*.0123456789'],
      ['another scheme', 'Basic YWRhOmFkYQ=='],
      ['the name of an inherited member', '__proto__'],
      ['a very long token', 'x'.repeat(8000)],
    ])('answers 401 to %s', async (_case, header) => {
      const { app, faults } = await createGuardedApp(version);
      const attempt = request(app).get(FLAGS);
      const { status, headers, body } = await (header === undefined ? attempt : attempt.set('Authorization', header));
      expect(status).toBe(401);
      expect(headers['www-authenticate']).toBe('Bearer');
      expect(body).toMatchObject({ name: 'AuthenticationRequired', code: 'unauthenticated' });
      expect(faults).toEqual([]);
    });
  });

  describe('API tokens', () => {
    it('are refused from the moment they expire or are deleted', async () => {
      const { app, flags, createSecret, setNow } = await createGuardedApp();
      const expiring = await createSecret('admin', '2026-01-01T11:00:00Z');
      const deleted = await createSecret('admin', null, 'deleted');
      await request(app).get(FLAGS).set('Authorization', expiring).expect(200);
      await request(app).get(FLAGS).set('Authorization', deleted).expect(200);

      setNow('2026-01-01T11:00:00Z');
      await flags.tokens.delete({ token: deleted });

      await request(app).get(FLAGS).set('Authorization', expiring).expect(401);
      await request(app).get(FLAGS).set('Authorization', deleted).expect(401);
    });

    it.each<[TokenKind, number, number]>([
      ['admin', 200, 403],
      ['client', 403, 202],
      ['frontend', 403, 403],
    ])('get, as %s tokens, %i from the administration and %i from the client API', async (kind, admin, client) => {
      const { app, createSecret } = await createGuardedApp();
      const secret = await createSecret(kind);
      await request(app).get(FLAGS).set('Authorization', secret).expect(admin);
      await request(app).post('/api/client/register').set('Authorization', secret).send(REGISTRATION).expect(client);
    });

    it('are refused with the required kind if they have another', async () => {
      const { app, createSecret } = await createGuardedApp();
      const { body } = await request(app)
        .get(FLAGS)
        .set('Authorization', await createSecret('client'))
        .expect(403);
      expect(body).toMatchObject({ name: 'NoAccessError', code: 'forbidden' });
      expect(body.message).toContain('admin');
    });

    it('become the actors of their changes', async () => {
      const { app, flags, createSecret } = await createGuardedApp();
      await request(app)
        .post(FLAGS)
        .set('Authorization', await createSecret('admin'))
        .send({ name: 'checkout' })
        .expect(201);
      const { items: events } = await flags.events.list({ flag: 'checkout' });
      expect(events).toMatchObject([{ type: 'flag-created', actor: 'the admin' }]);
    });

    it('are required before any other check', async () => {
      const { app } = await createGuardedApp();
      await request(app).post(FLAGS).set('content-type', 'application/json').send('{').expect(401);
      await request(app).put(FLAGS).expect(401);
      await request(app).get('/api/admin/nothing').expect(401);
      await request(app).get('/api/client/nothing').expect(401);
      await request(app).get('/api/admin/projects/%E0').expect(401);
      // The router waits some seconds for the rest of a body that it refuses, so that its client can read the reply.
      await withFakeTime(async (pass) => {
        let isAnswered = false;
        const asked = request(app).post(FLAGS).set('content-length', '99999999').expect(401);
        const answer = asked.then(() => {
          isAnswered = true;
        });
        while (!isAnswered) await Promise.race([answer, pass(100)]);
      });
    });
  });

  describe('a router without authentication', () => {
    it('permits everything to everyone, as anonymous', async () => {
      const { app, flags } = await createHostApp({ router: { auth: 'none' } });
      await request(app).post(FLAGS).set('Authorization', 'whatever').send({ name: 'checkout' }).expect(201);
      await request(app).post('/api/client/register').send(REGISTRATION).expect(202);
      expect((await flags.events.list({ flag: 'checkout' })).items).toMatchObject([{ actor: 'anonymous' }]);
    });
  });
});

describe('API tokens on the wire', () => {
  const TOKENS = '/api/admin/api-tokens';

  it('show their secret once, when they are created', async () => {
    const { app, flags } = await createHostApp({ flags: { now: () => new Date('2026-01-01T10:00:00Z') } });
    const { body } = await request(app)
      .post(TOKENS)
      .send({ tokenName: 'web', type: 'client', project: 'default', environment: 'production' })
      .expect(201);
    const { secret, ...shown } = body;
    expect(shown).toEqual({
      id: expect.any(String),
      tokenName: 'web',
      username: 'web',
      type: 'client',
      project: 'default',
      projects: ['default'],
      environment: 'production',
      createdAt: '2026-01-01T10:00:00.000Z',
      expiresAt: null,
      lastUsedAt: null,
      createdBy: { name: 'anonymous' },
    });
    expect(secret).toMatch(/^default:production\./);
    expect(await flags.verifyToken(secret)).toMatchObject({ name: 'web', kind: 'client' });

    const list = await request(app).get(TOKENS).expect(200);
    expect(list.body).toEqual({ tokens: [shown] });
  });

  it.each([
    [
      { username: 'ops', type: 'ADMIN' },
      { tokenName: 'ops', type: 'admin', project: '*', environment: '*' },
    ],
    [
      { tokenName: 'ops', type: 'Admin', project: '*', environment: '*' },
      { tokenName: 'ops', type: 'admin' },
    ],
    [
      { username: 'old', tokenName: 'new', type: 'FRONTEND', projects: ['default'], environment: 'development' },
      { tokenName: 'new', type: 'frontend', projects: ['default'] },
    ],
    [
      {
        tokenName: 'web',
        type: 'CLIENT',
        environment: 'production',
        expiresAt: '2126-01-01T00:00:00Z',
        secret: 'mine',
      },
      {
        project: '*',
        expiresAt: '2126-01-01T00:00:00.000Z',
        secret: expect.stringMatching(/^\*:production\.[0-9a-f]{48}$/),
      },
    ],
    [
      { tokenName: 'web', type: 'client' },
      { environment: 'production', secret: expect.stringMatching(/^\*:production\./) },
    ],
    [
      { tokenName: 'web', type: 'client', projects: ['shop', 'default'] },
      { project: 'shop', projects: ['shop', 'default'], secret: expect.stringMatching(/^\[\]:production\./) },
    ],
  ])('are created from %j', async (input, expected) => {
    const { app, flags } = await createHostApp();
    await flags.createProject({ id: 'shop', name: 'Shop' });
    const { body } = await request(app).post(TOKENS).send(input).expect(201);
    expect(body).toMatchObject(expected);
  });

  it.each([
    [{}, ['/tokenName', '/type']],
    [{ tokenName: '', type: 'root', expiresAt: 'never' }, ['/expiresAt', '/tokenName', '/type']],
    [{ tokenName: 'web', type: 'client', environment: '*' }, ['/environment']],
    [{ tokenName: 'web', type: 'client', environment: 'production', projects: [] }, ['/projects']],
    [{ tokenName: 'web', type: 'admin', environment: 'production' }, ['/environment']],
    [[], ['']],
  ])('are refused from %j', async (input, paths) => {
    const { app, flags } = await createHostApp();
    const { body } = await request(app).post(TOKENS).send(input).expect(400);
    expect(body.details.map(({ path }: { path: string }) => path).sort()).toEqual(paths);
    expect((await flags.tokens.list()).items).toEqual([]);
  });

  it('are deleted by their id or by their secret', async () => {
    const { app, flags } = await createHostApp();
    const one = await flags.tokens.create({ name: 'one', kind: 'admin' });
    const two = await flags.tokens.create({ name: 'two', kind: 'admin' });
    await request(app).delete(`${TOKENS}/${one.token.id}`).expect(200, '');
    await request(app)
      .delete(`${TOKENS}/${encodeURIComponent(two.secret)}`)
      .expect(200, '');
    expect((await flags.tokens.list()).items).toEqual([]);
    await request(app).delete(`${TOKENS}/${one.token.id}`).expect(404);
  });
});

describe('tokens on every route', () => {
  /** In the project default and in production: callers outside must not see it. */
  const SECRET_FLAG = 'unannounced-merger';
  const KINDS: readonly TokenKind[] = ['admin', 'client', 'frontend'];

  /** One route answers every caller: the tests of the session cover it. */
  const rows = ROUTES.filter(({ action }) => permissionOf(action)).map(
    (route) => [`${route.method} ${route.path}`, route] as const,
  );
  const scopedRows = rows.filter(([, { access }]) => access !== 'admin');

  let server: LiveServer;
  let now: Date;
  let tokens: Map<string, CreatedToken>;

  beforeAll(async () => {
    now = new Date('2026-01-01T10:00:00Z');
    server = await startLiveServer({ router: { auth: 'token' }, flags: { now: () => now, usage: { interval: 0 } } });
    const { flags } = server;
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await createOn(flags, { name: SECRET_FLAG });
    await createOn(flags, { name: 'basket' }, 'shop');
    tokens = new Map();
    for (const kind of KINDS) {
      const environment = kind === 'admin' ? {} : { environment: 'production' };
      const input = { name: kind, kind, ...environment };
      tokens.set(`${kind} valid`, await flags.tokens.create(input));
      const expired = { ...input, name: 'expired', expiresAt: '2026-01-01T10:00:00Z' };
      tokens.set(`${kind} expired`, await flags.tokens.create(expired));
      const deleted = await flags.tokens.create({ ...input, name: 'deleted' });
      await flags.tokens.delete({ token: deleted.token.id });
      tokens.set(`${kind} deleted`, deleted);
      if (kind === 'admin') continue;
      tokens.set(`${kind} of another project`, await flags.tokens.create({ ...input, name: 'shop', project: 'shop' }));
      const elsewhere = { ...input, name: 'elsewhere', environment: 'development' };
      tokens.set(`${kind} of another environment`, await flags.tokens.create(elsewhere));
    }
  });

  afterAll(() => server.stop());

  function secretOf(name: string): string {
    return tokens.get(name)?.secret ?? '';
  }

  interface Attempt {
    readonly authorization: string | undefined;
    /** The value of every parameter of the path. */
    readonly name?: string;
  }

  /** Sends a valid request, and reads the answer, or the part of a stream that comes with its head. */
  async function attempt(route: Route, { authorization, name = 'x' }: Attempt) {
    const body = bodyFor(route);
    const asked = requestOfNode(`${server.url}${route.path.replaceAll(/:\w+/g, name)}`, {
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
      'can read the flag: %s',
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
        const created = server.flags.tokens.create({ name: 'a', kind: 'admin', ...scope });
        await expect(created).rejects.toMatchObject({ code: 'invalid_input' });
      }
    });

    it('is unchanged after these requests', async () => {
      const before = await everythingIn(server.flags);
      for (const [, route] of rows) await attempt(route, { authorization: 'wrong' });
      expect(await everythingIn(server.flags)).toEqual(before);
    });
  });
});
