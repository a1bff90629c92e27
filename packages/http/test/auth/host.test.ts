import { type Flags, FlagsError, LIMITS, memoryStorage, openFlags, type Token, type TokenKind } from '@flags/core';
import { BUILT_IN_STRATEGIES, CHANGE_OPERATIONS } from '@flags/core/integration/http';
import express, { type Request } from 'express';
import request from 'supertest';
import { extent } from '../../../../test/extent.js';
import {
  type Action,
  type Actor,
  createFlagsRouter,
  type FlagsRouterOptions,
  isApiToken,
} from '../../../express/src/index.js';
import { permissionOf } from '../../src/actions.js';
import { VERSION } from '../../src/features/environments/session.js';
import { ROUTES } from '../../src/routes.js';
import { read } from '../docs/documents.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp, FLAGS } from '../host-app.js';

describe('users of the host', () => {
  interface User {
    readonly name: string;
    readonly projects: readonly string[];
  }

  const USERS = new Map<string | undefined, User>([
    ['ada', { name: 'Ada', projects: ['default'] }],
    ['bob', { name: 'Bob', projects: [] }],
  ]);

  describe.each(EXPRESS_VERSIONS)("the host's own users, on Express $major", (version) => {
    it('are recognised by a function, and named in the event log', async () => {
      const { app, flags } = await createHostApp<User>({
        version,
        router: { auth: async (req) => USERS.get(req.get('x-user')) ?? null },
      });
      await request(app).post(FLAGS).set('x-user', 'ada').send({ name: 'checkout' }).expect(201);
      expect((await flags.events.list({ flag: 'checkout' })).items).toMatchObject([{ actor: 'Ada' }]);

      const { headers, body } = await request(app).get(FLAGS).set('x-user', 'eve').expect(401);
      expect(headers['www-authenticate']).toBe('Bearer');
      expect(body).toMatchObject({ code: 'unauthenticated' });
    });

    it('are checked by actor, action and project, and refused with 403 unless authorize returns true', async () => {
      const asked: unknown[] = [];
      const { app, flags } = await createHostApp<User>({
        version,
        router: {
          auth: (req) => USERS.get(req.get('x-user')),
          authorize: async (user, action, project) => {
            asked.push([user.name, action, project]);
            return user.projects.includes(project ?? '');
          },
        },
      });
      await request(app).post(FLAGS).set('x-user', 'ada').send({ name: 'checkout' }).expect(201);
      const { body } = await request(app).post(FLAGS).set('x-user', 'bob').send('{').expect(403);
      expect(body).toMatchObject({ name: 'NoAccessError', code: 'forbidden' });
      await request(app).get('/api/admin/events').set('x-user', 'ada').expect(403);
      await request(app).delete('/api/admin/archive/checkout').set('x-user', 'ada').expect(409);
      await request(app).delete('/api/admin/archive/nothing').set('x-user', 'ada').expect(403);

      expect(asked).toEqual([
        ['Ada', 'createFlag', 'default'],
        ['Bob', 'createFlag', 'default'],
        ['Ada', 'listEvents', null],
        ['Ada', 'deleteFlag', 'default'],
        ['Ada', 'deleteFlag', null],
      ]);
      expect((await flags.listFlags({ project: 'default' })).items.map(({ name }) => name)).toEqual(['checkout']);
    });

    it('are refused when authorize returns a truthy value other than true', async () => {
      const { app } = await createHostApp({
        version,
        router: { auth: () => ({ name: 'Ada' }), authorize: () => 'yes' as unknown as boolean },
      });
      await request(app).get(FLAGS).expect(403);
    });

    it.each<[string, () => unknown]>([
      [
        'throws',
        () => {
          throw new Error('session store down');
        },
      ],
      ['rejects', () => Promise.reject(new Error('session store down'))],
      [
        'throws an error that looks like a bad request',
        () => {
          throw new URIError('session store down');
        },
      ],
      ['rejects with nothing', () => Promise.reject()],
      ['rejects with a signal of Express', () => Promise.reject('router')],
      ['gives an actor without a name', () => ({})],
      ['gives an actor with an empty name', () => ({ name: '' })],
    ])("lead to the host's error handler when the function %s", async (_case, auth) => {
      const { app, faults } = await createHostApp({ version, router: { auth: auth as () => null } });
      await request(app).get(FLAGS).expect(500);
      expect(faults).toHaveLength(1);
    });

    it("lead to the host's error handler when authorize throws", async () => {
      const { app, faults } = await createHostApp({
        version,
        router: { auth: () => ({ name: 'Ada' }), authorize: () => Promise.reject(new Error('directory down')) },
      });
      await request(app).get(FLAGS).expect(500);
      expect(faults).toMatchObject([{ message: 'directory down' }]);
    });

    it.each(['auth', 'authorize'] as const)(
      "lead to the host's error handler when %s throws a refusal of the engine, and not to onError",
      async (name) => {
        const refusals = [
          new FlagsError('flag_not_found', 'The flag "acl" does not exist.'),
          new FlagsError('storage_busy', 'The storage is busy.'),
        ];
        const told: unknown[] = [];
        const left = [...refusals];
        const host = {
          auth: () => ({ name: 'Ada' }),
          authorize: () => true,
          [name]: () => Promise.reject(left.shift()),
        };
        const { app, faults } = await createHostApp({
          version,
          router: { ...host, onError: (error) => told.push(error) },
        });
        await request(app).get(FLAGS).expect(500);
        await request(app).post('/ofrep/v1/evaluate/flags/acl').send({ context: {} }).expect(500);
        expect(faults).toEqual(refusals);
        expect(faults[0]).toBe(refusals[0]);
        expect(told).toEqual([]);
      },
    );

    it('use the client API with the same function', async () => {
      const asked: Action[] = [];
      const { app } = await createHostApp({
        version,
        router: {
          auth: () => ({ name: 'Ada' }),
          authorize: (_actor, action) => {
            asked.push(action);
            return true;
          },
        },
      });
      const body = { appName: 'web', strategies: [], started: '2026-01-01T10:00:00Z', interval: 1000 };
      await request(app).post('/api/client/register').send(body).expect(202);
      expect(asked).toEqual(['registerApplication']);
    });
  });

  describe('a permission', () => {
    it('is also checked for API tokens, and without authentication', async () => {
      const asked: string[] = [];
      const authorize = (actor: { readonly name: string }) => {
        asked.push(actor.name);
        return false;
      };
      const open = await createHostApp({ router: { auth: 'none', authorize } });
      await request(open.app).get(FLAGS).expect(403);

      const guarded = await createHostApp({ router: { auth: 'token', authorize } });
      const { secret } = await guarded.flags.tokens.create({ name: 'the admin', kind: 'admin' });
      await request(guarded.app).get(FLAGS).set('Authorization', secret).expect(403);
      expect(asked).toEqual(['anonymous', 'the admin']);
    });
  });
});

describe('sessions', () => {
  interface User {
    readonly name: string;
    readonly isAdmin: boolean;
  }

  const KINDS: readonly TokenKind[] = ['admin', 'client', 'frontend'];
  const session = (req: Request): User | null => (req.get('x-user') ? { name: 'Ada', isAdmin: true } : null);

  let flags: Flags;
  let secrets: Map<TokenKind, string>;

  beforeEach(async () => {
    flags = await openFlags({ storage: memoryStorage() });
    secrets = new Map();
    for (const kind of KINDS) secrets.set(kind, (await flags.tokens.create({ name: `the ${kind}`, kind })).secret);
  });

  afterEach(() => flags.close());

  const secretOf = (kind: TokenKind) => secrets.get(kind) ?? '';

  describe('sessions and tokens together', () => {
    it('accept users and admin tokens as actors of the admin API', async () => {
      const asked: unknown[] = [];
      const authorize = (actor: User | Token) => {
        asked.push(isApiToken(actor) ? actor.kind : actor.isAdmin);
        return true;
      };
      const app = express().use(createFlagsRouter(flags, { auth: { session, tokens: true }, authorize }));
      await request(app).post(FLAGS).set('x-user', 'ada').send({ name: 'a' }).expect(201);
      await request(app).post(FLAGS).set('Authorization', secretOf('admin')).send({ name: 'b' }).expect(201);
      await request(app)
        .post(FLAGS)
        .set('Authorization', `Bearer ${secretOf('admin')}`)
        .set('x-user', 'ada')
        .expect(400);
      await request(app).post(FLAGS).expect(401);
      expect(asked).toEqual([true, 'admin', 'admin']);
      const { items: events } = await flags.events.list({ type: 'flag-created' });
      expect(events).toMatchObject([
        { actor: 'the admin', actorTokenKind: 'admin' },
        { actor: 'Ada', actorTokenKind: null },
      ]);
    });

    it("leave other schemes of Authorization to the host's function", async () => {
      const app = express().use(createFlagsRouter(flags, { auth: { session, tokens: true } }));
      await request(app).get(FLAGS).set('Authorization', 'Bearer of.a.jwt').set('x-user', 'ada').expect(200);
      await request(app).get(FLAGS).set('Authorization', 'Bearer of.a.jwt').expect(401);
    });

    it('accept only tokens on SDK paths', async () => {
      const app = express().use(createFlagsRouter(flags, { auth: { session, tokens: true } }));
      await request(app).get('/api/client/features').set('x-user', 'ada').expect(401);
      await request(app).get('/api/client/features').set('Authorization', secretOf('client')).expect(200);
      await request(app).get('/api/frontend').set('Authorization', secretOf('frontend')).expect(200);
      await request(app)
        .post('/ofrep/v1/evaluate/flags')
        .set('Authorization', secretOf('frontend'))
        .send({})
        .expect(200);
    });

    it('are both in the OpenAPI document', async () => {
      const app = express().use(createFlagsRouter(flags, { auth: { session, tokens: true } }));
      const { body } = await request(app).get('/api/admin/openapi.json').set('x-user', 'ada').expect(200);
      expect(body.paths['/api/admin/projects'].get.security).toEqual([{ hostApplication: [] }, { adminToken: [] }]);
      expect(body.paths['/api/client/features'].get.security).toEqual([{ clientToken: [] }]);
    });
  });

  /** `tokens.test.ts` tests every route with tokens only: the short form tests some of them here. */
  const STEP = extent({ short: 5, full: 1 });

  /** The ways in which a host may combine its users with tokens. */
  const COMPOSITIONS = {
    'session and tokens': () => ({ auth: { session, tokens: true } }) as const,
    'a function that verifies tokens': () => ({
      auth: async (req: Request) => session(req) ?? (await flags.verifyToken(req.get('authorization') ?? '')) ?? null,
    }),
    'a function that copies tokens': () => ({
      auth: async (req: Request) => {
        const token = await flags.verifyToken(req.get('authorization') ?? '');
        return token ? { ...token, roles: ['token'] } : session(req);
      },
    }),
  } as const;

  describe.each(Object.keys(COMPOSITIONS) as (keyof typeof COMPOSITIONS)[])('sessions and tokens, with %s,', (name) => {
    const createApp = () => express().use(createFlagsRouter<User | Token>(flags, COMPOSITIONS[name]() as never));

    it('refuse a token of another kind at every route', async () => {
      const app = createApp();
      const routes = ROUTES.filter(({ action }, at) => permissionOf(action) && at % STEP === 0);
      for (const { method, path, access } of routes) {
        const allowed: readonly TokenKind[] = access === 'ofrep' ? ['client', 'frontend'] : [access];
        for (const kind of KINDS.filter((one) => !allowed.includes(one))) {
          const verb = method.toLowerCase() as 'get';
          const target = path.replaceAll(/:\w+/g, 'x');
          const { status, body } = await request(app)[verb](target).set('Authorization', secretOf(kind));
          expect([path, kind, status, body.code]).toEqual([path, kind, 403, 'forbidden']);
        }
      }
    });

    it('show a token its own project, and record its id in events', async () => {
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'default' }, { name: 'checkout' });
      await flags.createFlag({ project: 'shop' }, { name: 'basket' });
      const { secret } = await flags.tokens.create({ name: 'shop', kind: 'client', project: 'shop' });
      const app = createApp();
      const { body } = await request(app).get('/api/client/features').set('Authorization', secret).expect(200);
      expect(body.features).toMatchObject([{ name: 'basket' }]);
      await request(app).post(FLAGS).set('Authorization', secretOf('admin')).send({ name: 'new' }).expect(201);
      expect((await flags.events.list({ flag: 'new' })).items).toMatchObject([{ actorTokenKind: 'admin' }]);
    });
  });

  describe('a user of the host', () => {
    it('may have a kind property', async () => {
      const { app } = await createHostApp({ router: { auth: () => ({ name: 'Ada', kind: 'frontend', id: '7' }) } });
      await request(app).get(FLAGS).expect(200);
    });

    it.each<[string, unknown]>([
      ['a bigint', 10n],
      ['an object, such as an ObjectId', { toString: () => 'u-1' }],
      ['null', null],
      ['a boolean', true],
      ['NaN', Number.NaN],
      ['infinite', Infinity],
    ])('whose id is %s is an error of the host, and not compared by name', async (_type, id) => {
      const reported: FlagsError[] = [];
      const user = (): Actor => ({ name: 'Ada', id: id as string });
      const { app, flags, faults } = await createHostApp({
        router: { auth: user, onError: (error) => void reported.push(error) },
      });
      await request(app).post(FLAGS).send({ name: 'checkout' }).expect(500);
      expect(faults).toEqual([expect.any(TypeError)]);
      expect(reported).toMatchObject([{ code: 'invalid_input', message: expect.stringMatching(/String\(user\.id\)/) }]);
      expect((await flags.listFlags({ project: 'default' })).items).toEqual([]);
    });

    it.each<[string, string | number, string | number]>([
      ['a number, and later text', 7, '7'],
      ['text, and later a number', '-1.5', -1.5],
    ])('is one person by an id that is %s, here and in the typed API', async (_types, first, later) => {
      let actor: Actor = { name: 'Ada', id: first };
      const { app, flags } = await createHostApp({ router: { auth: () => actor } });
      const changes = [{ op: 'updateProject', ref: { project: 'default' }, input: { name: 'New' } }];
      const { id, effect } = (await request(app).post('/api/admin/change-requests').send({ changes }).expect(201)).body;
      actor = { name: 'Ada Miller', id: later };
      const approval = request(app).post(`/api/admin/change-requests/${id}/approve`).send({ effect });
      expect((await approval.expect(409)).body.code).toBe('own_change_request');
      const ref = { changeRequest: id };
      for (const own of [first, later]) {
        const approving = flags.as({ name: 'Ada Byron', id: own }).changeRequests.approve(ref, { effect });
        await expect(approving).rejects.toMatchObject({ code: 'own_change_request' });
      }
      await flags.as({ name: 'Ada', id: 8 }).changeRequests.approve(ref, { effect });
    });
  });
});

describe('the session', () => {
  const SESSION = '/api/admin/session';
  const session = (req: Request) => (req.get('x-user') ? { name: req.get('x-user') as string } : null);
  const OUTSIDE = (auth: string) => ({ version: VERSION, auth });

  let flags: Flags;
  let secrets: Readonly<Record<'admin' | 'client' | 'frontend', string>>;

  beforeEach(async () => {
    flags = await openFlags({ storage: memoryStorage() });
    const secretOf = async (kind: 'admin' | 'client' | 'frontend') => {
      const environment = kind === 'admin' ? {} : { environment: 'production' };
      return (await flags.tokens.create({ name: kind, kind, ...environment })).secret;
    };
    secrets = {
      admin: await secretOf('admin'),
      client: await secretOf('client'),
      frontend: await secretOf('frontend'),
    };
  });

  afterEach(() => flags.close());

  async function ask(options: FlagsRouterOptions, headers: Readonly<Record<string, string>> = {}, path = SESSION) {
    const app = express().use(createFlagsRouter(flags, options));
    return (await request(app).get(path).set(headers).expect(200)).body;
  }

  it('has the version of the package', () => {
    expect(VERSION).toBe(JSON.parse(read('packages/http/package.json')).version);
  });

  it('shows callers without access only how to sign in', async () => {
    expect(await ask({ auth: 'token' })).toEqual(OUTSIDE('token'));
    expect(await ask({ auth: 'token' }, { authorization: '*:*.unknown' })).toEqual(OUTSIDE('token'));
    expect(await ask({ auth: 'token' }, { authorization: secrets.client })).toEqual(OUTSIDE('token'));
    expect(await ask({ auth: 'token' }, { authorization: secrets.frontend })).toEqual(OUTSIDE('token'));
    expect(await ask({ auth: session })).toEqual(OUTSIDE('host'));
    const both = { auth: { session, tokens: true } } as never;
    expect(await ask(both)).toEqual(OUTSIDE('session'));
    expect(await ask(both, { authorization: secrets.client, 'x-user': 'ada' })).toEqual(OUTSIDE('session'));
  });

  it('names the actor in every mode', async () => {
    expect(await ask({ auth: 'none' })).toMatchObject({ auth: 'none', actor: 'anonymous' });
    expect(await ask({ auth: 'token' }, { authorization: secrets.admin })).toMatchObject({ actor: 'admin' });
    expect(await ask({ auth: session }, { 'x-user': 'ada' })).toMatchObject({ auth: 'host', actor: 'ada' });
    const both = { auth: { session, tokens: true } } as never;
    expect(await ask(both, { 'x-user': 'ada' })).toMatchObject({ auth: 'session', actor: 'ada' });
    expect(await ask(both, { authorization: `Bearer ${secrets.admin}` })).toMatchObject({ actor: 'admin' });
  });

  it('describes each built-in strategy', async () => {
    const { strategies } = await ask({ auth: 'none' });
    expect(strategies).toEqual(BUILT_IN_STRATEGIES);
    const rollout = BUILT_IN_STRATEGIES.find(({ name }) => name === 'flexibleRollout');
    expect(rollout?.parameters.map(({ name }) => name)).toEqual(['rollout', 'stickiness', 'groupId']);
  });

  it('lists the actions that authorize allows in the project, and checks actions of the instance without a project', async () => {
    const authorize = (_: object, action: string, project: string | null) =>
      project === 'mine' && /^(get|list)/.test(action);
    const options = { auth: () => ({ name: 'Ada' }), authorize };
    expect(await ask(options)).not.toHaveProperty('actions');
    const { actions } = await ask(options, {}, `${SESSION}?project=mine`);
    expect(actions).toEqual(expect.arrayContaining(['getFlag', 'listFlags', 'listEvents', 'listMembers']));
    expect(actions).not.toContain('createFlag');
    expect(actions).not.toContain('listTokens');
    expect(actions).not.toContain('listClientFlags');
    expect(new Set(actions).size).toBe(actions.length);
    expect((await ask(options, {}, `${SESSION}?project=other`)).actions).toEqual([]);
  });

  it('lists every action except its own without authorize', async () => {
    const { actions } = await ask({ auth: 'none' }, {}, `${SESSION}?project=default`);
    expect(actions).toEqual(expect.arrayContaining(['createProject', 'useSegment', 'enable', 'getOpenApi']));
    const asked = CHANGE_OPERATIONS.map((op) => (op.endsWith('Rollout') ? 'changeRollout' : op));
    expect(actions).toEqual(expect.arrayContaining(asked));
    expect(actions).not.toContain('getSession');
    expect(actions).not.toContain('streamEvents');
  });

  it('refuses a project id that is too long', async () => {
    const { app } = await createHostApp();
    await request(app)
      .get(`${SESSION}?project=${'x'.repeat(LIMITS.name + 1)}`)
      .expect(400);
  });

  it('leaves errors of the host to the host', async () => {
    const fault = new Error('no database');
    const auth = () => Promise.reject(fault);
    const { app, faults } = await createHostApp({ router: { auth } });
    await request(app).get(SESSION).expect(500);
    const authorize = () => Promise.reject(fault);
    const other = await createHostApp({ router: { auth: () => ({ name: 'Ada' }), authorize } });
    await request(other.app).get(`${SESSION}?project=default`).expect(500);
    expect([...faults, ...other.faults]).toEqual([fault, fault]);
  });

  it('keeps pages of other host names out of a server without authentication', async () => {
    const { app } = await createHostApp();
    await request(app).get(SESSION).set('host', 'evil.example.org').expect(403);
  });
});
