import { type Flags, memoryStorage, openFlags } from '@flags/core';
import express, { type Request } from 'express';
import request from 'supertest';
import { type Action, createFlagsRouter, isApiToken, roles, type UserRole } from '../../../express/src/index.js';
import { createHostApp } from '../host-app.js';

describe('permissions', () => {
  const SEGMENTS = '/api/admin/segments';
  const strategies = (project: string) =>
    `/api/admin/projects/${project}/features/${project}-flag/environments/production/strategies`;

  /** Ada may do everything in the project `mine`, and nothing else. Records each check. */
  async function createApp(
    allowed: (action: Action, project: string | null) => boolean | Promise<boolean> = (_, place) => place === 'mine',
  ) {
    const asked: (readonly [Action, string | null])[] = [];
    const host = await createHostApp({
      router: {
        auth: () => ({ name: 'Ada' }),
        authorize: (_actor, action, project) => {
          asked.push([action, project]);
          return allowed(action, project);
        },
      },
    });
    for (const id of ['mine', 'other']) {
      await host.flags.createProject({ id, name: id });
      await host.flags.createFlag({ project: id }, { name: `${id}-flag` });
    }
    await host.flags.segments.create({ name: 'all', constraints: [] });
    await host.flags.segments.create({ name: 'mine', constraints: [], project: 'mine' });
    await host.flags.segments.create({ name: 'other', constraints: [], project: 'other' });
    return { ...host, asked };
  }

  describe('the use of a segment', () => {
    it('needs the permission of its project, or of the instance', async () => {
      const { app, asked } = await createApp();
      await request(app)
        .post(strategies('mine'))
        .send({ name: 'default', segments: [2] })
        .expect(200);
      const { body } = await request(app)
        .post(strategies('mine'))
        .send({ name: 'default', segments: [1] })
        .expect(403);
      expect(body.code).toBe('forbidden');
      await request(app)
        .post(strategies('mine'))
        .send({ name: 'default', segments: [3] })
        .expect(400);
      expect(asked.filter(([action]) => action === 'useSegment')).toEqual([
        ['useSegment', 'mine'],
        ['useSegment', null],
      ]);
    });

    it('is checked when a strategy starts to use it, by PUT and by every form of PATCH', async () => {
      const { app, flags, asked } = await createApp((action) => action !== 'useSegment');
      const ref = { project: 'mine', flag: 'mine-flag', environment: 'production' };
      const { id } = await (flags as Flags<string>).addStrategy(ref, {
        name: 'default',
        segments: [2],
        parameters: { n: 1 },
        sortOrder: 1,
      });
      const path = `${strategies('mine')}/${id}`;
      const put = (segments: number[]) => request(app).put(path).send({ name: 'default', segments });
      await put([2, 1]).expect(403);
      for (const patch of [
        [{ op: 'add', path: '/segments/-', value: 1 }],
        [{ op: 'replace', path: '/segments', value: [1] }],
        [{ op: 'copy', from: '/parameters/n', path: '/segments/-' }],
        [{ op: 'move', from: '/sortOrder', path: '/segments/0' }],
      ]) {
        await request(app).patch(path).send(patch).expect(403);
      }
      expect(asked.filter(([action]) => action === 'useSegment')).toEqual(Array(5).fill(['useSegment', null]));
      expect((await flags.getFlag(ref)).environments.flatMap((one) => one.strategies)).toMatchObject([
        { segments: [2] },
      ]);
      await put([2]).expect(200);
    });
  });

  describe('a request for a segment', () => {
    it('needs the permission of the project that the segment belongs to', async () => {
      const { app, asked } = await createApp();
      for (const [id, status] of [
        ['1', 403],
        ['2', 200],
        ['3', 403],
        ['9', 403],
        ['x', 403],
      ] as const) {
        await request(app).get(`${SEGMENTS}/${id}`).expect(status);
        await request(app).get(`${SEGMENTS}/${id}/strategies`).expect(status);
        await request(app).put(`${SEGMENTS}/${id}`).send({ description: 'x' }).expect(status);
      }
      await request(app).put(`${SEGMENTS}/2`).send({ project: 'other' }).expect(403);
      await request(app).put(`${SEGMENTS}/2`).send({ project: null }).expect(403);
      await request(app).delete(`${SEGMENTS}/3`).expect(403);
      await request(app).delete(`${SEGMENTS}/2`).expect(200);
      expect(asked).toContainEqual(['getSegment', 'other']);
      expect(asked).toContainEqual(['updateSegment', 'other']);
    });

    it.each([
      ['GET', `${SEGMENTS}/2`, undefined],
      ['GET', `${SEGMENTS}/2/strategies`, undefined],
      ['PUT', `${SEGMENTS}/2`, { description: 'x' }],
      ['DELETE', `${SEGMENTS}/2`, undefined],
      [
        'POST',
        '/api/admin/changes',
        { changes: [{ op: 'updateSegment', ref: { segment: 2, project: 'mine' }, input: { name: 'x' } }] },
      ],
    ] as const)(
      'answers 404 if the segment moves to another project after the check: %s %s',
      async (method, path, body) => {
        let move: () => Promise<unknown> = async () => undefined;
        const { app, flags } = await createApp(async (_, place) => {
          await move();
          return place === 'mine';
        });
        const before = await flags.segments.update({ segment: 2 }, { description: 'before' });
        move = () => flags.segments.update({ segment: 2 }, { project: 'other' });
        const send = {
          GET: request(app).get,
          PUT: request(app).put,
          DELETE: request(app).delete,
          POST: request(app).post,
        };
        const { body: answer } = await send[method](path).send(body).expect(404);
        expect(answer.code).toBe('segment_not_found');
        expect(await flags.segments.get({ segment: 2 })).toMatchObject({
          ...before,
          project: 'other',
          revision: before.revision + 1,
        });
      },
    );

    it('finds the segment in the project to which an earlier change of the set has moved it', async () => {
      const { app, flags, asked } = await createApp(() => true);
      const change = (project: string | null, input: object) => {
        return { op: 'updateSegment', ref: { segment: 2, project }, input };
      };
      const changes = [
        change('mine', { project: null }),
        change(null, { name: 'a' }),
        change(null, { project: 'other' }),
        change('other', { name: 'b' }),
      ];
      await request(app).post('/api/admin/changes').send({ changes }).expect(200);
      expect(await flags.segments.get({ segment: 2 })).toMatchObject({ name: 'b', project: 'other' });
      expect(asked.filter(([action]) => action === 'updateSegment').map(([, project]) => project)).toEqual([
        'mine',
        null,
        'other',
      ]);
    });

    it('creates a segment only in a permitted project, even with an invalid body', async () => {
      const { app, flags } = await createApp();
      const post = (body: unknown) =>
        request(app)
          .post(SEGMENTS)
          .set('content-type', 'application/json')
          .send(body as object);
      await post({ name: 'a', constraints: [], project: 'mine' }).expect(201);
      await post({ name: 'b', constraints: [], project: 'other' }).expect(403);
      await post({ name: 'c', constraints: [] }).expect(403);
      await post('{').expect(403);
      await post([]).expect(403);
      await post({ project: 'mine' }).expect(400);
      expect((await flags.segments.list()).items).toHaveLength(4);
    });
  });

  describe('a request for an archived flag', () => {
    it("needs the permission of the flag's project, whose name a refusal does not contain", async () => {
      const { app, flags } = await createApp();
      for (const project of ['mine', 'other']) await flags.archiveFlag({ project, flag: `${project}-flag` });
      const revive = (flag: string) => request(app).post(`/api/admin/archive/revive/${flag}`);
      const remove = (flag: string) => request(app).delete(`/api/admin/archive/${flag}`);
      for (const attempt of [revive('other-flag'), remove('other-flag'), revive('nothing'), remove('nothing')]) {
        const { body } = await attempt.expect(403);
        expect(body.message).toMatch(/^Ada may not \w+Flag here\./);
      }
      await revive('mine-flag').expect(200);
      await flags.archiveFlag({ project: 'mine', flag: 'mine-flag' });
      await remove('mine-flag').expect(200);
    });

    it('skips the search for callers with permission for the instance', async () => {
      const { app } = await createApp(() => true);
      await request(app).post('/api/admin/archive/revive/nothing').expect(404);
      await request(app).delete('/api/admin/archive/nothing').expect(404);
    });
  });

  describe('a taken name', () => {
    it('is refused without naming its project', async () => {
      const { app, flags } = await createApp();
      const mine = '/api/admin/projects/mine/features';
      for (let archived = 0; archived < 2; archived++) {
        const created = await request(app).post(mine).send({ name: 'other-flag' }).expect(409);
        const cloned = await request(app).post(`${mine}/mine-flag/clone`).send({ name: 'other-flag' }).expect(409);
        for (const { body } of [created, cloned]) {
          expect(JSON.stringify(body).replaceAll(/other-flag|another/g, '')).not.toMatch(
            /other[^.;\s]|project|archive/,
          );
        }
        await flags.archiveFlag({ project: 'other', flag: 'other-flag' });
      }
    });
  });

  describe('a list across projects', () => {
    const FEATURES = '/api/admin/features';

    it('omits the projects that the caller may not read, also from the total, and checks each once', async () => {
      const { app, asked } = await createApp();
      const { body } = await request(app).get(FEATURES).expect(200);
      expect(body).toMatchObject({ features: [{ name: 'mine-flag', project: 'mine' }], total: 1 });
      expect(asked).toEqual([
        ['listFlags', 'mine'],
        ['listFlags', 'other'],
      ]);
      const paged = await request(app).get(`${FEATURES}?limit=1&project=other&project=mine`).expect(200);
      expect(paged.body).toMatchObject({ features: [{ name: 'mine-flag' }], total: 1 });
      expect(paged.headers.link).toBeUndefined();
    });

    it('is empty for a caller who may read projects, if nothing matches', async () => {
      const { app, flags } = await createApp();
      await request(app).get(`${FEATURES}?query=nothing`).expect(200, { version: 1, features: [], total: 0 });
      await request(app).get(`${FEATURES}?project=other`).expect(200, { version: 1, features: [], total: 0 });
      await flags.archiveFlag({ project: 'mine', flag: 'mine-flag' });
      await request(app).get(FEATURES).expect(200, { version: 1, features: [], total: 0 });
    });

    it('is refused to a caller who may not read any project', async () => {
      const { app } = await createApp(() => false);
      const { body } = await request(app).get(FEATURES).expect(403);
      expect(body.code).toBe('forbidden');
    });

    it('is generated per caller, with an entity tag of the visible content', async () => {
      let place = 'mine';
      const { app } = await createApp((_, project) => project === place);
      for (const query of ['', '?limit=5']) {
        place = 'mine';
        const mine = await request(app).get(`${FEATURES}${query}`).expect(200);
        await request(app).get(`${FEATURES}${query}`).set('If-None-Match', `${mine.headers.etag}`).expect(304);
        place = 'other';
        const other = await request(app)
          .get(`${FEATURES}${query}`)
          .set('If-None-Match', `${mine.headers.etag}`)
          .expect(200);
        expect(other.body).toMatchObject({ features: [{ name: 'other-flag' }], total: 1 });
      }
    });

    it('passes errors of authorize to the host', async () => {
      const { app } = await createApp((_, project) => {
        if (project === 'mine') throw new Error('no answer');
        return true;
      });
      await request(app).get(FEATURES).expect(500);
    });

    it('shows the tags of readable projects only', async () => {
      const { app, flags } = await createApp();
      await flags.changeLabels({ project: 'mine', flag: 'mine-flag' }, { add: ['b', 'a'] });
      await flags.changeLabels({ project: 'other', flag: 'other-flag' }, { add: ['c'] });
      const { body } = await request(app).get('/api/admin/tags').expect(200);
      expect(body.tags.map(({ value }: { value: string }) => value)).toEqual(['b', 'a']);
    });
  });

  describe('a request for the tags of a flag', () => {
    it("needs the permission of the flag's project to read or to update the flag", async () => {
      const { app, asked } = await createApp();
      const tags = (flag: string) => `/api/admin/features/${flag}/tags`;
      await request(app).get(tags('mine-flag')).expect(200);
      await request(app).post(tags('mine-flag')).send({ value: 'a' }).expect(201);
      await request(app).get(tags('other-flag')).expect(403);
      await request(app).post(tags('other-flag')).send({ value: 'a' }).expect(403);
      await request(app)
        .delete(`${tags('nothing')}/simple/a`)
        .expect(403);
      expect(asked).toEqual([
        ['getFlag', 'mine'],
        ['updateFlag', 'mine'],
        ['getFlag', 'other'],
        ['updateFlag', 'other'],
        ['updateFlag', null],
      ]);
    });
  });
});

describe('a request for a segment', () => {
  it('needs the permission of its project, which is found without reading the segment', async () => {
    const storage = memoryStorage();
    const read: string[] = [];
    const get: typeof storage.get = (key) => {
      read.push(key.kind);
      return storage.get(key);
    };
    const flags = await openFlags({ storage: { ...storage, get } });
    await flags.createProject({ id: 'mine', name: 'Mine' });
    const { id } = await flags.segments.create({ name: 'mine', constraints: [], project: 'mine' });
    const places: (string | null)[] = [];
    const host = express().use(
      createFlagsRouter(flags, {
        auth: () => ({ name: 'Ada' }),
        authorize(_actor, _action, project) {
          places.push(project);
          return false;
        },
      }),
    );
    read.length = 0;
    for (const segment of [id, 99]) {
      await request(host).get(`/api/admin/segments/${segment}`).expect(403);
      await request(host).put(`/api/admin/segments/${segment}`).send({ name: 'other' }).expect(403);
    }
    expect([places, read]).toEqual([['mine', 'mine', null, null], []]);
    await flags.close();
  });
});

describe('authorize', () => {
  interface User {
    readonly name: string;
    readonly isAdmin: boolean;
  }

  const findUser = (request: Request): User | undefined => ({ name: request.url, isAdmin: true });

  /** The test is that the build compiles this. */
  const ROUTERS: Readonly<Record<string, (flags: Flags) => unknown>> = {
    "a function's user": (flags) =>
      createFlagsRouter(flags, { auth: (request) => findUser(request), authorize: (user) => user.isAdmin }),
    "a promise's user": (flags) =>
      createFlagsRouter(flags, {
        auth: async (request) => findUser(request) ?? null,
        authorize: async (user, action, project) => user.isAdmin && action !== 'deleteProject' && project !== null,
      }),
    'a user type that is written down': (flags) =>
      createFlagsRouter(flags, { auth: (request) => findUser(request), authorize: (user: User) => user.isAdmin }),
    "a session's user, or a token": (flags) =>
      createFlagsRouter(flags, {
        auth: { session: async (request) => findUser(request) ?? null, tokens: true },
        authorize: (actor) => (isApiToken(actor) ? actor.kind === 'admin' : actor.isAdmin),
      }),
    "a session's user with a role, or a token": (flags) =>
      createFlagsRouter(flags, {
        auth: {
          session: async (request) => (findUser(request) ? { name: 'Ada', role: 'viewer' as UserRole } : null),
          tokens: true,
        },
        authorize: (actor, action) => isApiToken(actor) || roles[actor.role](action),
      }),
    "no more than a session's user, or a token": (flags) =>
      // @ts-expect-error: tokens are not users
      createFlagsRouter(flags, {
        auth: { session: findUser, tokens: true },
        authorize: (user: User) => user.isAdmin,
      }),
    'the name of a token': (flags) =>
      createFlagsRouter(flags, { auth: 'token', authorize: (actor) => actor.name !== '' }),
    'no more than the name of a token': (flags) =>
      // @ts-expect-error: tokens are not users
      createFlagsRouter(flags, { auth: 'token', authorize: (user: User) => user.isAdmin }),
  };

  it.each(Object.keys(ROUTERS))('receives the type of %s', async (name) => {
    expect(ROUTERS[name]?.(await openFlags({ storage: memoryStorage() }))).toBeInstanceOf(Function);
  });
});
