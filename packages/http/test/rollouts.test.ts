import type { Flags, StrategyRef } from '@flags/core';
import type { Express } from 'express';
import request from 'supertest';
import type { Action } from '../../express/src/index.js';
import { createHostApp } from './host-app.js';

const ROLLOUTS = '/api/admin/rollouts';
const UNKNOWN_ID = '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b11';
const MOVES = ['pause', 'resume', 'advance', 'stop'] as const;
const STEPS = [{ rollout: 25, hold: null }, { rollout: 100 }];

type Rule = (name: string, action: Action, project: string | null) => boolean;

interface World {
  readonly app: Express;
  readonly flags: Flags;
  readonly asked: string[];
  /** The strategies of projects a and b. */
  readonly refs: Readonly<Record<'a' | 'b', StrategyRef>>;
}

/** Ann may do everything; Eve everything in project a, and nothing elsewhere. */
const LIMITED: Rule = (name, _action, project) => name === 'ann' || project === 'a';

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
  const addGradual = async (project: string): Promise<StrategyRef> => {
    const ref = { project, flag: `flag-${project}`, environment: 'production' };
    await flags.createProject({ id: project, name: project });
    await flags.createFlag({ project }, { name: ref.flag });
    const parameters = { rollout: 5, stickiness: 'default', groupId: ref.flag };
    const { id } = await flags.addStrategy(ref, { name: 'flexibleRollout', parameters });
    await flags.enable(ref);
    return { ...ref, strategy: id };
  };
  return { app, flags, asked, refs: { a: await addGradual('a'), b: await addGradual('b') } };
}

describe('rollouts over HTTP', () => {
  let world: World;
  afterEach(() => world.flags.close());

  const begin = (user: string, project: 'a' | 'b') =>
    request(world.app).post(ROLLOUTS).set('x-user', user).send({ ref: world.refs[project], steps: STEPS });
  const asEve = (method: 'get' | 'post', path: string) => request(world.app)[method](path).set('x-user', 'eve');
  const percentageOf = async ({ project, flag }: StrategyRef) =>
    (await world.flags.getFlag({ project, flag })).environments.find(({ name }) => name === 'production')?.strategies[0]
      ?.parameters?.rollout;

  it('ask for the action of the rollout, and of the change of its strategy', async () => {
    world = await start(() => true);
    const { id } = (await begin('ann', 'a').expect(201)).body;
    expect([...new Set(world.asked)].toSorted()).toEqual(['startRollout a', 'updateStrategy a']);
    world.asked.length = 0;
    await request(world.app).post(`${ROLLOUTS}/${id}/advance`).expect(200);
    const asked = new Set(world.asked);
    for (const question of ['changeRollout a', 'updateStrategy a']) expect(asked).toContain(question);
  });

  it.each<Action>(['startRollout', 'updateStrategy'])('refuse to start without the permission %s', async (refused) => {
    world = await start((_name, action) => action !== refused);
    await begin('eve', 'a').expect(403);
    expect((await world.flags.listRollouts()).items).toEqual([]);
    expect(await percentageOf(world.refs.a)).toBe(5);
  });

  it.each<Action>(['changeRollout', 'updateStrategy'])(
    'refuse the next step without the permission %s',
    async (refused) => {
      world = await start((name, action) => name === 'ann' || action !== refused);
      const { id } = (await begin('ann', 'a').expect(201)).body;
      await asEve('post', `${ROLLOUTS}/${id}/advance`).expect(403);
      await asEve('post', `${ROLLOUTS}/${id}/stop`).send({ rollback: true }).expect(403);
      expect(await percentageOf(world.refs.a)).toBe(25);
    },
  );

  it('hide what is in another project: from lists, reads, moves and events', async () => {
    world = await start();
    const own = (await begin('ann', 'a').expect(201)).body.id;
    const foreign = (await begin('ann', 'b').expect(201)).body.id;
    const list = await asEve('get', ROLLOUTS).expect(200);
    expect(list.body.rollouts.map(({ id }: { readonly id: string }) => id)).toEqual([own]);
    for (const [method, path] of [['get', ''], ...MOVES.map((move) => ['post', `/${move}`] as const)] as const) {
      const refused = await asEve(method, `${ROLLOUTS}/${foreign}${path}`).expect(404);
      const absent = await asEve(method, `${ROLLOUTS}/${UNKNOWN_ID}${path}`).expect(404);
      expect(refused.text.replaceAll(foreign, UNKNOWN_ID)).toBe(absent.text);
    }
    await begin('eve', 'b').expect(403);
    const events = await asEve('get', '/api/admin/history').expect(200);
    expect(JSON.stringify(events.body)).not.toContain(foreign);
    expect(await percentageOf(world.refs.b)).toBe(25);
    expect((await world.flags.getRollout({ rollout: foreign })).state).toBe('waiting');
  });

  it('follow a flag into another project', async () => {
    world = await start();
    const { id } = (await begin('ann', 'a').expect(201)).body;
    await world.flags.moveFlag({ project: 'a', flag: 'flag-a' }, { project: 'b' });
    await asEve('get', `${ROLLOUTS}/${id}`).expect(404);
    const { body } = await request(world.app).get(`${ROLLOUTS}?project=b`).expect(200);
    expect(body.rollouts).toMatchObject([{ id }]);
  });

  it('are refused by an engine whose rollouts nobody carries out, and its session does not offer them', async () => {
    world = await start(() => true, false);
    const { body } = await begin('ann', 'a').expect(409);
    expect(body.code).toBe('schedules_disabled');
    const { actions } = (await request(world.app).get('/api/admin/session?project=a').expect(200)).body;
    expect(actions).not.toContain('startRollout');
    expect(actions).toContain('changeRollout');
  });

  it('refuse a stale revision, and name the next step', async () => {
    world = await start();
    const { body, headers } = await begin('ann', 'a').expect(201);
    const post = (move: string) => request(world.app).post(`${ROLLOUTS}/${body.id}/${move}`);
    await post('pause').set('if-match', `${headers.etag}`).expect(200);
    await post('advance').set('if-match', `${headers.etag}`).expect(412);
    const refused = await post('advance').send({ step: 7 }).expect(400);
    expect(refused.body.details[0].path).toBe('/step');
  });
});
