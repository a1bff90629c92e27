import { createFlags, type Flags, memoryStorage, type Token, type TokenKind } from '@flags/core';
import express, { type Request } from 'express';
import request from 'supertest';
import { createFlagsRouter, isApiToken } from '../../../express/src/index.js';
import { ROUTES } from '../../src/routes/all-routes.js';
import { createHostApp, FLAGS } from '../host-app.js';

interface User {
  readonly name: string;
  readonly isAdmin: boolean;
}

const KINDS: readonly TokenKind[] = ['admin', 'client', 'frontend'];
const session = (req: Request): User | null => (req.get('x-user') ? { name: 'Ada', isAdmin: true } : null);

let flags: Flags;
let secrets: Map<TokenKind, string>;

beforeEach(async () => {
  flags = await createFlags({ storage: memoryStorage() });
  secrets = new Map();
  for (const kind of KINDS) secrets.set(kind, (await flags.createToken({ name: `the ${kind}`, kind })).secret);
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
    const { events } = await flags.listEvents({ type: 'flag-created' });
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
    await request(app).post('/ofrep/v1/evaluate/flags').set('Authorization', secretOf('frontend')).send({}).expect(200);
  });

  it('are both in the OpenAPI document', async () => {
    const app = express().use(createFlagsRouter(flags, { auth: { session, tokens: true } }));
    const { body } = await request(app).get('/api/admin/openapi.json').set('x-user', 'ada').expect(200);
    expect(body.paths['/api/admin/projects'].get.security).toEqual([{ hostApplication: [] }, { adminToken: [] }]);
    expect(body.paths['/api/client/features'].get.security).toEqual([{ clientToken: [] }]);
  });
});

/** The ways in which a host may mix its users with tokens. */
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

describe.each(Object.keys(COMPOSITIONS) as (keyof typeof COMPOSITIONS)[])('with %s', (name) => {
  const createApp = () => express().use(createFlagsRouter<User | Token>(flags, COMPOSITIONS[name]() as never));

  it('a token of another kind is refused at every route', async () => {
    const app = createApp();
    for (const { method, path, access } of ROUTES.filter(({ isOpen }) => !isOpen)) {
      const allowed: readonly TokenKind[] = access === 'ofrep' ? ['client', 'frontend'] : [access];
      for (const kind of KINDS.filter((one) => !allowed.includes(one))) {
        const verb = method.toLowerCase() as 'get';
        const target = path.replaceAll(/:\w+/g, 'x');
        const { status, body } = await request(app)[verb](target).set('Authorization', secretOf(kind));
        expect([path, kind, status, body.code]).toEqual([path, kind, 403, 'forbidden']);
      }
    }
  });

  it('a token sees its own project, and events record its id', async () => {
    await flags.createProject({ id: 'shop', name: 'Shop' });
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.createFlag({ project: 'shop' }, { name: 'basket' });
    const { secret } = await flags.createToken({ name: 'shop', kind: 'client', project: 'shop' });
    const app = createApp();
    const { body } = await request(app).get('/api/client/features').set('Authorization', secret).expect(200);
    expect(body.features).toMatchObject([{ name: 'basket' }]);
    await request(app).post(FLAGS).set('Authorization', secretOf('admin')).send({ name: 'new' }).expect(201);
    expect((await flags.listEvents({ flag: 'new' })).events).toMatchObject([{ actorTokenKind: 'admin' }]);
  });
});

describe("a user of the host's", () => {
  it('may have a kind property', async () => {
    const { app } = await createHostApp({ router: { auth: () => ({ name: 'Ada', kind: 'frontend', id: '7' }) } });
    await request(app).get(FLAGS).expect(200);
  });
});
