import type { StrategyRef } from '@flags/core';
import request from 'supertest';
import { HOUR, type Project, production, startWorld, type World } from './change-requests-world.js';

const ROLLOUTS = '/api/admin/rollouts';
const STEPS = [{ percentage: 25, hold: null }, { percentage: 100 }];
const MOVES = [
  ['post', '/pause'],
  ['post', '/resume'],
  ['post', '/advance'],
  ['delete', ''],
] as const;

let world: World;
afterEach(() => world.flags.close());

/** Without a protected environment. */
async function start(...given: Parameters<typeof startWorld>): Promise<void> {
  world = await startWorld(...given);
  await world.flags.approvalPolicy.set({ environments: {} }, { bypassApproval: 'Test' });
}

const strategyPath = ({ project, flag, environment, strategy }: StrategyRef) =>
  `/api/admin/projects/${project}/features/${flag}/environments/${environment}/strategies/${strategy}`;
const pathOf = (project: Project) => `${strategyPath(world.refs[project])}/rollout`;
const begin = (user: string, project: Project) => world.as(user, 'post', pathOf(project)).send({ steps: STEPS });
const percentageOf = async (project: Project) =>
  (await world.as('ann', 'get', strategyPath(world.refs[project])).expect(200)).body.parameters.rollout;
const rolloutsOf = async (user: string) => (await world.as(user, 'get', ROLLOUTS).expect(200)).body.rollouts;

describe('rollouts over HTTP', () => {
  it('ask for one action, also where they change the strategy', async () => {
    await start();
    world.asked.length = 0;
    await begin('ann', 'a').expect(201);
    for (const [method, path] of MOVES) await world.as('ann', method, `${pathOf('a')}${path}`).expect(200);
    expect([...new Set(world.asked)]).toEqual(['changeRollout a']);
  });

  it.each(MOVES)('refuse to %s %s without the permission, and to start', async (method, path) => {
    await start((name, action) => name !== 'Eve' || action !== 'changeRollout');
    await begin('eve', 'a').expect(403);
    expect(await percentageOf('a')).toBe(5);
    await begin('ann', 'a').expect(201);
    await world.as('eve', method, `${pathOf('a')}${path}`).expect(403);
    expect(await rolloutsOf('ann')).toMatchObject([{ state: 'waiting', percentage: 25 }]);
  });

  it('hide what is in another project: from lists, moves and histories', async () => {
    await start();
    await begin('ann', 'a').expect(201);
    await begin('ann', 'b').expect(201);
    expect(await rolloutsOf('eve')).toMatchObject([{ ref: world.refs.a }]);
    for (const [method, path] of MOVES) await world.as('eve', method, `${pathOf('b')}${path}`).expect(403);
    await begin('eve', 'b').expect(403);
    const { text } = await world.as('eve', 'get', '/api/admin/history').expect(200);
    expect(text).not.toContain('flag-b');
    expect(await rolloutsOf('ann')).toMatchObject([{}, { ref: world.refs.b, state: 'waiting', percentage: 25 }]);
  });

  it('end where their flag moves to another project, and keep the percentage', async () => {
    await start();
    await begin('ann', 'a').expect(201);
    await world.flags.moveFlag({ project: 'a', flag: 'flag-a' }, { project: 'b' });
    expect(await rolloutsOf('ann')).toEqual([]);
    await world.as('ann', 'delete', pathOf('a')).expect(404);
  });

  it('start nowhere where nothing is done at a time', async () => {
    await start(undefined, { due: { run: false } });
    expect((await begin('ann', 'a').expect(409)).body.code).toBe('due_disabled');
    expect(await percentageOf('a')).toBe(5);
  });

  it('compare If-Match with the revision of the flag, take an id, and log the reason', async () => {
    await start();
    const { headers } = await begin('ann', 'a').expect(201);
    const move = (path: string) => world.as('ann', 'post', `${pathOf('a')}${path}`);
    const sent = { 'if-match': `${headers.etag}`, 'x-change-reason': 'Errors', 'idempotency-key': UNIQUE };
    const paused = await move('/pause').set(sent).expect(200);
    expect((await move('/pause').set(sent).expect(200)).text).toBe(paused.text);
    await move('/advance').set('if-match', `${headers.etag}`).expect(412);
    const [event] = (await world.flags.events.list({ limit: 1 })).items;
    expect(event).toMatchObject({ type: 'rollout-paused', changeSet: UNIQUE, reason: 'Errors', flag: 'flag-a' });
    const refused = await move('/advance').send({ step: 7 }).expect(400);
    expect(refused.body.details[0].path).toBe('/step');
  });

  it('show their author by name only, in strategies, lists, replies and events', async () => {
    await start();
    const started = await begin('ann', 'a').expect(201);
    expect(started.body.author).toEqual({ name: 'Ann' });
    const { id } = (await world.flags.history.list({ project: 'a', flag: 'flag-a' })).items[0] ?? {};
    const paths = [strategyPath(world.refs.a), ROLLOUTS, '/api/admin/events', `/api/admin/changes/${id}`];
    for (const path of [...paths, '/api/admin/projects/a/features/flag-a']) {
      const { text } = await world.as('ann', 'get', path).expect(200);
      expect(text).toContain('"author":{"name":"Ann"}');
      expect(text).not.toContain('u-1');
    }
    const ending = { changes: [{ op: 'disable', ref: production('a') }] };
    const { body: definitions } = await world.as('ann', 'get', '/api/admin/export?project=a').expect(200);
    const off = definitions.flags.map((flag: object) => ({ ...flag, archived: true }));
    for (const sent of [
      world.as('ann', 'post', '/api/admin/changes/plan').send(ending),
      world.as('ann', 'post', `/api/admin/changes/${id}/undo/plan`),
      world.as('ann', 'post', '/api/admin/import').send({ definitions: { version: 1, flags: off }, dryRun: true }),
      world.as('ann', 'get', '/api/admin/history'),
    ]) {
      const { text } = await sent.expect(200);
      expect(text).toContain('"author":{"name":"Ann"}');
      expect(text).not.toContain('u-1');
    }
  });

  it('are never shown to clients', async () => {
    await start();
    await begin('ann', 'a').expect(201);
    const paths = ['/api/client/features', '/api/client/features/flag-a', '/api/frontend'];
    for (const path of paths) {
      const { text } = await world.as('ann', 'get', path).expect(200);
      expect(text).not.toMatch(/startedFrom|"steps"|"author"/);
    }
    const ofrep = await request(world.app)
      .post('/ofrep/v1/evaluate/flags')
      .set('x-user', 'ann')
      .send({ context: { targetingKey: '7' } })
      .expect(200);
    expect(ofrep.text).toContain('flag-a');
    expect(ofrep.text).not.toMatch(/startedFrom|"steps"|"author"/);
    const exported = await world.as('ann', 'get', '/api/admin/export').expect(200);
    expect(exported.text).toContain('"rollout":25');
    expect(exported.text).not.toMatch(/startedFrom|"steps"|"author"/);
  });

  it('survive an import of what was exported before their start, which names them', async () => {
    await start();
    const { body: definitions } = await world.as('ann', 'get', '/api/admin/export').expect(200);
    await begin('ann', 'a').expect(201);
    const imported = await world.as('ann', 'post', '/api/admin/import').send({ definitions }).expect(200);
    expect(imported.body).toMatchObject({ changeSet: null, differences: [], rollouts: [world.refs.a] });
    expect(await rolloutsOf('ann')).toMatchObject([{ percentage: 25 }]);
  });

  it('are in an import reply only where the caller may read their project', async () => {
    await start();
    const { body: definitions } = await world.as('ann', 'get', '/api/admin/export?project=a').expect(200);
    await begin('ann', 'a').expect(201);
    await begin('ann', 'b').expect(201);
    const sent = { definitions: { ...definitions, segments: [] }, dryRun: true };
    const { body, text } = await world.as('eve', 'post', '/api/admin/import').send(sent).expect(200);
    expect(body).toMatchObject({ rollouts: [world.refs.a], approval: null });
    expect(text).not.toContain('flag-b');
  });

  it('are started by a change set too, by the same permission', async () => {
    await start((name, action) => name !== 'Eve' || action === 'applyChanges' || action === 'changeRollout');
    const change = { op: 'startRollout', ref: world.refs.a, input: { steps: [{ percentage: 50, hold: HOUR }] } };
    const { body } = await world
      .as('eve', 'post', '/api/admin/changes')
      .send({ changes: [change] })
      .expect(200);
    expect(body.events).toMatchObject([{ type: 'rollout-started' }, { type: 'feature-strategy-update' }]);
    await world
      .as('eve', 'post', '/api/admin/changes')
      .send({ changes: [{ op: 'disable', ref: production('a') }] })
      .expect(403);
    expect(await percentageOf('a')).toBe(50);
  });
});

const UNIQUE = '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b11';
