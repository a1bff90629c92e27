import { FlagsError } from '@flags/core';
import request from 'supertest';
import type { Action } from '../../../express/src/index.js';
import { EXPRESS_VERSIONS } from '../express-versions.js';
import { createHostApp, FLAGS } from '../host-app.js';

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
    expect((await flags.listEvents({ flag: 'checkout' })).events).toMatchObject([{ actor: 'Ada' }]);

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
    expect((await flags.listFlags({ project: 'default' })).map(({ name }) => name)).toEqual(['checkout']);
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
      'throws what looks like a bad request',
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
    "lead to the host's error handler when %s throws what the engine has refused it, and not to onError",
    async (name) => {
      const refusals = [
        new FlagsError('flag_not_found', 'The flag "acl" does not exist.'),
        new FlagsError('storage_busy', 'The storage is busy.'),
      ];
      const told: unknown[] = [];
      const left = [...refusals];
      const host = { auth: () => ({ name: 'Ada' }), authorize: () => true, [name]: () => Promise.reject(left.shift()) };
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

  it('use the client API by the same function', async () => {
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
    const { secret } = await guarded.flags.createToken({ name: 'the admin', kind: 'admin' });
    await request(guarded.app).get(FLAGS).set('Authorization', secret).expect(403);
    expect(asked).toEqual(['anonymous', 'the admin']);
  });
});
