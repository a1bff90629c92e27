import request from 'supertest';
import type { Action } from '../../src/index.js';
import { createHostApp } from '../host-app.js';

const SEGMENTS = '/api/admin/segments';
const strategies = (project: string) =>
  `/api/admin/projects/${project}/features/${project}-flag/environments/production/strategies`;

/** Ada may do everything in the project `mine`, and nothing else. Each question that is asked is kept. */
async function createApp(
  allowed: (action: Action, project: string | null) => boolean = (_, place) => place === 'mine',
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
  await host.flags.createSegment({ name: 'all', constraints: [] });
  await host.flags.createSegment({ name: 'mine', constraints: [], project: 'mine' });
  await host.flags.createSegment({ name: 'other', constraints: [], project: 'other' });
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

  it('is asked for where a strategy begins to use it, by PUT and by every form of PATCH', async () => {
    const { app, flags, asked } = await createApp((action) => action !== 'useSegment');
    const ref = { project: 'mine', flag: 'mine-flag', environment: 'production' };
    const { id } = await flags.addStrategy(ref, { name: 'default', segments: [2], parameters: { n: 1 }, sortOrder: 1 });
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
    expect((await flags.getFlag(ref)).environments.flatMap((one) => one.strategies)).toMatchObject([{ segments: [2] }]);
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

  it('creates one where the permission is for, which a bad body does not get around', async () => {
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
    expect(await flags.listSegments()).toHaveLength(4);
  });
});

describe('a request for an archived flag', () => {
  it("needs the permission of the flag's project, whose name a refusal does not tell", async () => {
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

  it('has nothing to find for those who may ask for the instance', async () => {
    const { app } = await createApp(() => true);
    await request(app).post('/api/admin/archive/revive/nothing').expect(404);
    await request(app).delete('/api/admin/archive/nothing').expect(404);
  });
});

describe('a name that is taken', () => {
  it('is refused without telling whose it is', async () => {
    const { app, flags } = await createApp();
    const mine = '/api/admin/projects/mine/features';
    for (let archived = 0; archived < 2; archived++) {
      const created = await request(app).post(mine).send({ name: 'other-flag' }).expect(409);
      const cloned = await request(app).post(`${mine}/mine-flag/clone`).send({ name: 'other-flag' }).expect(409);
      for (const { body } of [created, cloned]) {
        expect(JSON.stringify(body).replaceAll(/other-flag|another/g, '')).not.toMatch(/other[^.;\s]|project|archive/);
      }
      await flags.archiveFlag({ project: 'other', flag: 'other-flag' });
    }
  });
});
