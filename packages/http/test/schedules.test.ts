import type { Change, Flags } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import type { Action } from '../../express/src/index.js';
import { createHostApp } from './host-app.js';

const SCHEDULES = '/api/admin/schedules';
const [A, B] = [{ project: 'a' }, { project: 'b' }];
const [OF_A, OF_B]: readonly Change[] = [A, B].map(
  (ref): Change => ({
    op: 'updateFlag',
    ref: { ...ref, flag: `flag-${ref.project}` },
    input: { description: 'Later' },
  }),
);
const HOUR = 3_600_000;
const at = new Date(Date.now() + HOUR).toISOString();

type Rule = (name: string, action: Action, project: string | null) => boolean;

interface World {
  readonly app: Express;
  readonly flags: Flags;
  readonly asked: string[];
}

/** Ann may do everything; Bea everything in the projects a and b; Eve in project a, and nothing elsewhere. */
const LIMITED: Rule = (name, _action, project) =>
  name === 'ann' || project === 'a' || (name === 'bea' && project === 'b');

async function start(rule: Rule = LIMITED, runSchedules: boolean | 'elsewhere' = 'elsewhere'): Promise<World> {
  const asked: string[] = [];
  const { app, flags } = await createHostApp<{ readonly name: string }>({
    flags: { runSchedules },
    router: {
      auth: (sent) => ({ name: String(sent.headers['x-user'] ?? 'ann') }),
      authorize: ({ name }, action, project) => {
        asked.push(`${action} ${project}`);
        return rule(name, action, project);
      },
    },
  });
  for (const ref of [A, B]) {
    await flags.createProject({ id: ref.project, name: ref.project });
    await flags.createFlag(ref, { name: `flag-${ref.project}` });
  }
  return { app, flags, asked };
}

describe('schedules over HTTP', () => {
  let world: World;
  afterEach(() => world.flags.close());

  const make = (user: string, changes: readonly (Change | undefined)[]) =>
    request(world.app).post(SCHEDULES).set('x-user', user).send({ changes, at });
  const asEve = (method: 'get' | 'delete', path: string) => request(world.app)[method](path).set('x-user', 'eve');

  it('ask for the action of the schedule, and of each change, in every project', async () => {
    world = await start(() => true);
    const segment: Change = { op: 'createSegment', input: { name: 'beta', constraints: [], project: 'a' } };
    await make('ann', [OF_A, OF_B, segment]).expect(201);
    expect([...new Set(world.asked)].toSorted()).toEqual([
      'createSchedule a',
      'createSchedule b',
      'createSegment a',
      'updateFlag a',
      'updateFlag b',
    ]);
  });

  it.each<[string, Action]>([
    ['the schedule', 'createSchedule'],
    ['one of its changes', 'updateFlag'],
  ])('refuse a caller without the permission for %s, and keep nothing', async (_, refused) => {
    world = await start((_name, action) => action !== refused);
    await make('eve', [OF_A]).expect(403);
    expect((await world.flags.listSchedules()).items).toEqual([]);
  });

  it('hide what touches another project: from lists, reads, cancellations and events', async () => {
    world = await start();
    const ids: string[] = [];
    for (const changes of [[OF_A], [OF_B], [OF_A, OF_B]]) ids.push((await make('ann', changes).expect(201)).body.id);
    const [own, foreign, both] = ids;
    const list = await asEve('get', SCHEDULES).expect(200);
    expect(list.body.schedules.map(({ id }: { readonly id: string }) => id)).toEqual([own]);
    await asEve('get', `${SCHEDULES}/${own}`).expect(200);
    const unknown = '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b11';
    for (const id of [foreign, both]) {
      for (const method of ['get', 'delete'] as const) {
        const refused = await asEve(method, `${SCHEDULES}/${id}`).expect(404);
        const absent = await asEve(method, `${SCHEDULES}/${unknown}`).expect(404);
        expect(refused.text.replaceAll(`${id}`, unknown)).toBe(absent.text);
      }
    }
    await make('eve', [OF_A, OF_B]).expect(403);
    await make('eve', [OF_B]).expect(403);
    const events = await asEve('get', '/api/admin/history').expect(200);
    expect(JSON.stringify(events.body)).not.toMatch(new RegExp(`${foreign}|${both}`));
    await asEve('delete', `${SCHEDULES}/${own}`).expect(200);
    const { items } = await world.flags.listSchedules({ state: 'pending' });
    expect(items.map(({ id }) => id)).toEqual([foreign, both]);
  });

  it('become a change set that only those see and undo who may read all of its projects', async () => {
    world = await start();
    const changes = [OF_A, OF_B];
    const due = { changes, at: new Date().toISOString(), reason: 'Both' };
    const { id } = (await request(world.app).post(SCHEDULES).set('x-user', 'bea').send(due).expect(201)).body;
    expect((await world.flags.runDue()).items).toMatchObject([{ id, state: 'applied' }]);
    const { changeSet } = await world.flags.getSchedule({ schedule: id });
    const historyOf = async (user: string) => {
      const { body } = await request(world.app).get('/api/admin/history').set('x-user', user).expect(200);
      return JSON.stringify(body);
    };
    expect(await historyOf('bea')).toContain(`schedule/${id}`);
    expect(await historyOf('eve')).not.toMatch(new RegExp(`${id}|Both`));
    const events = await request(world.app).get('/api/admin/projects/a/features/flag-a/history').set('x-user', 'eve');
    expect(events.text).not.toMatch(new RegExp(`${id}|Both`));
    const undo = (user: string) =>
      request(world.app).post(`/api/admin/changes/${changeSet}/undo`).set('x-user', user).send({});
    await undo('eve').expect(403);
    await undo('bea').expect(200);
  });

  it('follow a flag into another project', async () => {
    world = await start();
    const { id } = (await make('ann', [OF_A]).expect(201)).body;
    await world.flags.moveFlag({ ...A, flag: 'flag-a' }, B);
    await asEve('get', `${SCHEDULES}/${id}`).expect(404);
    expect((await asEve('get', SCHEDULES).expect(200)).body.schedules).toEqual([]);
    const { body } = await request(world.app).get(`${SCHEDULES}?project=b`).expect(200);
    expect(body.schedules).toMatchObject([{ id }]);
  });

  it('need an own permission to cancel', async () => {
    world = await start((_name, action) => action !== 'cancelSchedule');
    const { id } = (await make('ann', [OF_A]).expect(201)).body;
    await asEve('delete', `${SCHEDULES}/${id}`).expect(403);
    expect((await world.flags.getSchedule({ schedule: id })).state).toBe('pending');
  });

  it('are refused by an engine whose schedules nobody carries out, and its session does not offer them', async () => {
    const session = () => request(world.app).get('/api/admin/session?project=a').expect(200);
    world = await start(() => true, false);
    const { body } = await make('ann', [OF_A]).expect(409);
    expect(body.code).toBe('schedules_disabled');
    const { actions } = (await session()).body;
    expect(actions).not.toContain('createSchedule');
    expect(actions).toContain('cancelSchedule');
    await world.flags.close();
    world = await start(() => true);
    expect((await session()).body.actions).toContain('createSchedule');
  });

  it('compare If-Match with the revision of the schedule, and log the reason of a cancellation', async () => {
    world = await start(() => true);
    const made = await make('ann', [OF_A]).expect(201);
    const path = `${SCHEDULES}/${made.body.id}`;
    const read = await request(world.app).get(path).expect(200);
    expect(made.headers.etag?.split('-')[0]).toBe(read.headers.etag?.split('-')[0]);
    await request(world.app).delete(path).set('if-match', '"7-0"').expect(412);
    const cancel = request(world.app).delete(path).set('if-match', `${read.headers.etag}`);
    await cancel.set('x-change-reason', 'Not%20yet').expect(200);
    const [event] = (await world.flags.listEvents({ limit: 1 })).items;
    expect(event).toMatchObject({ type: 'schedule-ended', reason: 'Not yet', actor: 'ann' });
  });
});
