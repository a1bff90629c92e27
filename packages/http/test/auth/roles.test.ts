import { readdirSync } from 'node:fs';
import { type Flags, type FlagsStorage, memoryStorage, openFlags, type Token } from '@flags/core';
import express, { type Request } from 'express';
import request from 'supertest';
import * as adapter from '../../../express/src/index.js';
import { type Action, createFlagsRouter, isApiToken, roles, type UserRole } from '../../../express/src/index.js';
import { PERMISSION_ROWS, permissionOf, writtenBy } from '../../src/actions.js';
import { ROUTES } from '../../src/routes.js';
import { codeBlocks, read } from '../docs/documents.js';
import { runProgram } from '../docs/run-module.js';
import { createHostApp, FLAGS } from '../host-app.js';

const ACTIONS = PERMISSION_ROWS.map(([action]) => action);
const TOKENS = '/api/admin/api-tokens';
const CHANGES = '/api/admin/changes';
const MEMBER = 98_765_432;

type Decide = (actor: object, action: Action, project: string | null) => unknown;

let storage: FlagsStorage;
let flags: Flags;
let secret: string;
let token: Token;

beforeEach(async () => {
  storage = memoryStorage();
  flags = await openFlags({ storage, recentContexts: 5 });
  ({ secret, token } = await flags.tokens.create({ name: 'the-operator', kind: 'admin' }));
});

afterEach(() => flags.close());

/** A row of a host's table of users that has every member of a token. */
function hostileRow() {
  return {
    ...(JSON.parse(JSON.stringify(token)) as object),
    name: 'eve',
    role: 'viewer',
    kind: 'admin',
    type: 'admin',
    secret,
    token: true,
    isApiToken: true,
    'Symbol(@flags/api-token)': true,
    '@flags/api-token': true,
    projects: ['*'],
    edits: [],
  };
}

describe('the mark of API tokens', () => {
  it('exists on every token of the engine and on spread copies, but not in JSON', async () => {
    const verified = (await flags.verifyToken(secret)) as Token;
    const rotated = await flags.tokens.rotate({ token: token.id });
    for (const one of [
      token,
      verified,
      rotated.token,
      ...(await flags.tokens.list()).items,
      { ...verified, roles: [] },
    ]) {
      expect(isApiToken(one)).toBe(true);
    }
    for (const one of [JSON.parse(JSON.stringify(verified)), structuredClone(verified), hostileRow(), null, 'admin']) {
      expect(isApiToken(one)).toBe(false);
    }
  });

  it('is the same in every copy of the package', () => {
    expect(isApiToken({ [Symbol.for('@flags/api-token')]: true })).toBe(true);
    expect(isApiToken({ [Symbol('@flags/api-token')]: true })).toBe(false);
  });

  it('refuses a token of an unknown kind on every path', async () => {
    const key = { kind: 'token', id: token.id };
    const stored = await storage.get(key);
    const body = { ...(stored?.body as object), kind: 'robot' };
    await storage.commit({
      writes: [{ key, expected: stored?.revision ?? 0, parent: null, body, summary: body }],
      events: [],
    });
    const verify = (req: Request) => flags.verifyToken(req.get('authorization') ?? '');
    const options = [
      { auth: 'token' },
      { auth: verify },
      { auth: async (req: Request) => ({ ...(await verify(req)) }) },
    ];
    for (const one of options) {
      const app = express().use(createFlagsRouter(flags, one as never));
      for (const path of [FLAGS, TOKENS, '/api/client/features', '/api/frontend']) {
        const { status } = await request(app).get(path).set('Authorization', secret);
        expect([path, status]).toEqual([path, 403]);
      }
      await request(app).post(FLAGS).set('Authorization', secret).send({ name: 'a' }).expect(403);
    }
  });
});

describe('roles', () => {
  it('have an action for every route, and a route or a part of a change for every action', () => {
    const asked = ROUTES.flatMap(({ action }) => permissionOf(action) ?? []);
    expect(asked.filter((action) => !roles.admin(action))).toEqual([]);
    for (const [action, { by }] of PERMISSION_ROWS) {
      const accesses = new Set(
        ROUTES.filter((route) => permissionOf(route.action) === action).map(({ access }) => access),
      );
      expect([action, accesses.size > 0, accesses.has('admin')]).toEqual([action, by !== 'change', by === undefined]);
    }
  });

  it('name the actions of the instance, whose requests name no project', () => {
    const named = ROUTES.filter(({ access }) => access === 'admin').flatMap((route) => {
      const isOfInstance = !route.path.includes(':projectId') && route.permissionIn === undefined;
      const permission = permissionOf(route.action);
      return isOfInstance && permission ? [permission] : [];
    });
    const rows = PERMISSION_ROWS.filter(([, { of }]) => of === 'instance').map(([action]) => action);
    // A stream of events shows those of the projects that the caller may read, so it has a project.
    expect(new Set(named.filter((action) => action !== 'listEvents'))).toEqual(new Set(rows));
  });

  it('let no GET write', () => {
    const written = ROUTES.filter(({ method }) => method === 'GET').map(({ action }) => writtenBy(action));
    expect(new Set(written)).toEqual(new Set(['nothing']));
  });

  it('include the lower roles, and refuse unknown actions', () => {
    const allowed = (role: UserRole) => ACTIONS.filter((action) => roles[role](action));
    expect(allowed('editor')).toEqual(expect.arrayContaining(allowed('viewer')));
    expect(allowed('admin')).toEqual(ACTIONS);
    const reading = /^(get|list|count|preview|explain|evaluate|resolve|summarize|stream)/;
    expect(allowed('viewer').filter((action) => !reading.test(action))).toEqual([]);
    for (const role of ['viewer', 'editor', 'admin'] as const) {
      for (const unknown of ['dropDatabase', '__proto__', 'constructor', 'toString', '', undefined, null, {}]) {
        expect(roles[role](unknown as Action)).toBe(false);
      }
    }
    for (const unknown of ['__proto__', 'constructor', 'hasOwnProperty', 'owner', 'Viewer']) {
      expect(roles[unknown as UserRole]).toBeUndefined();
    }
  });

  it('permit editors to undo every change that they may make', async () => {
    const { app } = await appFor('editor');
    const { body } = await request(app)
      .post(CHANGES)
      .send({ changes: [{ op: 'createFlag', ref: { project: 'default' }, input: { name: 'a' } }] })
      .expect(200);
    await request(app).post(`${CHANGES}/${body.id}/undo`).send({}).expect(200);
    await request(app).get(TOKENS).expect(403);
    await request(app).post(TOKENS).send({ username: 'mine', type: 'admin' }).expect(403);
    await request(app).post('/api/admin/projects/default/users/7/roles/4').send({}).expect(403);
    const input = { userId: 7, roleId: 4 };
    await request(app)
      .post(CHANGES)
      .send({ changes: [{ op: 'addMember', ref: { project: 'default' }, input }] })
      .expect(403);
    const projects = [{ id: 'default', name: 'Default', members: [input] }];
    await request(app)
      .post('/api/admin/import')
      .send({ definitions: { version: 1, projects } })
      .expect(403);
  });

  it('hide tokens, members, events and contexts from a viewer, on every route', async () => {
    const { app } = await appFor('viewer');
    await flags.createFlag({ project: 'default' }, { name: 'a' });
    await flags.segments.create({ name: 'all', constraints: [] });
    await flags.addMember({ project: 'default' }, { userId: MEMBER, roleId: 4 });
    await flags.createProject({ id: 'gone', name: 'Gone' });
    await flags.addMember({ project: 'gone' }, { userId: MEMBER, roleId: 4 });
    await flags.deleteProject({ project: 'gone' });
    flags.isEnabled('a', { userId: 'contexts-of-others' });
    const sets = [...(await flags.history.list({})).items].map(({ id }) => id);
    const hidden = new RegExp(`the-operator|contexts-of-others|${MEMBER}`);
    const seen = new Map<string, number>();
    const readings = ROUTES.filter(({ method, access, path }) => {
      return method === 'GET' && access === 'admin' && !path.includes('event-stream');
    });
    for (const { path } of readings) {
      for (const id of path.includes('changes/:id') ? sets.map(String) : ['']) {
        const target = path
          .replace(':projectId', 'default')
          .replace(':featureName', 'a')
          .replace(':id', id)
          .replace(':segmentId', '1')
          .replaceAll(/:\w+/g, 'x');
        const { status, text } = await request(app).get(target);
        expect([target, hidden.exec(text)]).toEqual([target, null]);
        seen.set(path, status);
      }
    }
    for (const path of [FLAGS, '/api/admin/history', '/api/admin/projects', '/api/admin/metrics/usage']) {
      expect((await request(app).get(path)).status).toBe(200);
    }
    for (const path of [TOKENS, '/api/admin/events', '/api/admin/contexts', '/api/admin/export']) {
      expect([path, seen.get(path)]).toEqual([path, 403]);
    }
    await request(app).get('/api/admin/event-stream').expect(403);
    const admin = await appFor('admin');
    for (const path of [
      TOKENS,
      '/api/admin/events',
      '/api/admin/contexts',
      '/api/admin/export',
      '/api/admin/history',
    ]) {
      expect((await request(admin.app).get(path).expect(200)).text).toMatch(hidden);
    }
    const changes = [{ op: 'updateProject', ref: { project: 'default' }, input: { name: 'Other' } }];
    const { text } = await request(app).post(`${CHANGES}/plan`).send({ changes }).expect(200);
    expect(text).not.toMatch(hidden);
    const history = await request(app).get('/api/admin/history').expect(200);
    expect(history.body.changes.map(({ events }: { events: { type: string }[] }) => events[0]?.type)).toEqual([
      'project-created',
      'segment-created',
      'feature-created',
      'project-created',
    ]);
  });
});

const appFor = (role: UserRole) =>
  createHostApp({
    engine: flags,
    router: { auth: () => ({ name: 'Ada' }), authorize: (_actor, action) => roles[role](action) },
  });

/** The examples of `authorize` in guides and docstrings, by their place. */
function documentedExamples(): readonly (readonly [string, string])[] {
  const guides = readdirSync(`${__dirname}/../../../../docs`, { encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`);
  const packages = ['core', 'http', 'express', 'ui', 'openfeature', 'cli', 'postgres'];
  const readmes = ['README.md', ...packages.map((name) => `packages/${name}/README.md`)];
  const programs = [...guides, ...readmes].flatMap((file) =>
    ['js', 'ts']
      .flatMap((language) => codeBlocks(read(file), language))
      .filter((code) => /\bauthorize(:| =)/.test(code))
      .map((code, index) => [`${file}, example ${index + 1}`, code] as const),
  );
  const sources = [
    'packages/http/src/options.ts',
    'packages/http/src/auth/roles.ts',
    'packages/core/src/features/tokens/token-verification.operations.ts',
  ];
  const lines = sources.flatMap((file) =>
    [...read(file).matchAll(/^ +\* +authorize: (.+?),?$/gm)].map(
      ([, code], index) => [`${file}, docstring ${index + 1}`, `const authorize = ${code};`] as const,
    ),
  );
  return [...programs, ...lines];
}

/** Runs an example on the packages, and returns its `authorize`. */
async function authorizeOf(code: string): Promise<Decide> {
  let given: Decide | undefined;
  const create = (_flags: Flags, options: { readonly authorize?: Decide }) => {
    given = options.authorize;
    return () => undefined;
  };
  const packages = { ...adapter, createFlagsRouter: create };
  const scope = { ...packages, require: () => packages, app: express(), flags };
  const own = await runProgram(code, { result: "typeof authorize === 'function' ? authorize : undefined", scope });
  const decide = given ?? (own as Decide | undefined);
  if (!decide) throw new Error('The example has no authorize.');
  return decide;
}

describe.each(documentedExamples())('authorize in %s', (_place, code) => {
  it('refuses every action for a hostile role', async () => {
    const authorize = await authorizeOf(code);
    const [eve, viewer] = [hostileRow(), { name: 'vera', role: 'viewer', edits: [] }];
    for (const project of ['default', '*', null]) {
      const allowed = (actor: object) => ACTIONS.filter((action) => authorize(actor, action, project) === true);
      expect(allowed(eve)).toEqual(allowed(viewer));
      expect(allowed(eve).filter((action) => !roles.viewer(action))).toEqual([]);
    }
    const options = { auth: { session: (req: Request) => req.get('x-user') && eve, tokens: true }, authorize };
    const app = express().use(createFlagsRouter(flags, options as never));
    const asEve = { 'x-user': 'eve' };
    await request(app).post(FLAGS).set(asEve).send({ name: 'a' }).expect(403);
    await request(app).get(TOKENS).set(asEve).expect(403);
    await request(app).post(TOKENS).set(asEve).send({ username: 'mine', type: 'admin' }).expect(403);
    await request(app).get('/api/admin/events').set(asEve).expect(403);
    if (code.includes('isApiToken')) await request(app).get(TOKENS).set('Authorization', secret).expect(200);
  });
});

it('finds the examples', () => {
  const places = documentedExamples().map(([place]) => place.split(',')[0]);
  expect(places).toEqual(expect.arrayContaining(['docs/http-api.md']));
  expect(places).toEqual(expect.arrayContaining(['packages/http/src/options.ts', 'packages/http/src/auth/roles.ts']));
});
