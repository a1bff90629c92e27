import type { StrategyRef } from '@flags/core';
import type { Express } from 'express';
import request, { type Test } from 'supertest';
import type { Action } from '../../express/src/index.js';
import {
  adding,
  OF_PEOPLE,
  POLICY,
  PROTECTING,
  type Project,
  REQUESTS,
  type Rule,
  startWorld,
  type World,
} from './change-requests-world.js';
import { createHostApp } from './host-app.js';

describe('what only people do', () => {
  let world: World;
  afterEach(() => world.flags.close());

  /** Each request needs one of the actions of people. */
  const requests = (app: Express, id: string): readonly Test[] => [
    request(app).put(POLICY).send({ environments: {} }),
    request(app).post(`${REQUESTS}/${id}/approve`).send({ effect: 'any' }),
    request(app).post(`${REQUESTS}/${id}/reject`),
    request(app)
      .post('/api/admin/changes')
      .set('x-bypass-approval', 'Urgent')
      .send({ changes: [adding('a')] }),
    request(app).delete('/api/admin/projects/a/features/flag-a').set('x-bypass-approval', 'Urgent'),
  ];

  it('is refused to API tokens, before authorize is asked', async () => {
    world = await startWorld();
    const { flags } = world;
    const { id } = await flags.as('ann').changeRequests.create([adding('a')]);
    const { secret } = await flags.tokens.create({ name: 'ci', kind: 'admin' });
    const authorize = jest.fn((_actor: unknown, _action: Action) => true);
    const { app } = await createHostApp({ engine: flags, router: { auth: 'token', authorize } });
    for (const sent of requests(app, id)) {
      const { body } = await sent.set('authorization', secret).expect(403);
      expect(body.message).toMatch(/^API tokens (may not|cannot) /);
    }
    expect(authorize.mock.calls.filter(([, action]) => OF_PEOPLE.includes(action))).toEqual([]);
    expect(await flags.approvalPolicy.get()).toMatchObject(PROTECTING);
    expect(await flags.changeRequests.get({ changeRequest: id })).toMatchObject({ state: 'open', approvals: [] });
    // A token may request, and apply what people have approved.
    const send = (path: string, body: object) => request(app).post(path).set('authorization', secret).send(body);
    const { body: made } = await send(REQUESTS, { changes: [adding('a')], reason: 'Release' }).expect(201);
    await flags.as('ann').changeRequests.approve({ changeRequest: made.id }, { effect: made.effect });
    await send(`${REQUESTS}/${made.id}/apply`, {}).expect(200);
    await send(`${REQUESTS}/${id}/withdraw`, {}).expect(200);
    expect(await world.strategiesOf('a')).toBe(2);
  });

  it('is refused without authentication', async () => {
    world = await startWorld();
    const { flags } = world;
    const { id } = await flags.as('ann').changeRequests.create([adding('a')]);
    const { app } = await createHostApp({ engine: flags, router: { auth: 'none' } });
    for (const sent of requests(app, id)) {
      const { body } = await sent.expect(403);
      expect(body.message).toMatch(/^Anonymous callers may not \w+\. Approvals need users/);
    }
    expect(await flags.approvalPolicy.get()).toMatchObject(PROTECTING);
    const actions: readonly Action[] = (await request(app).get('/api/admin/session?project=a').expect(200)).body
      .actions;
    expect(actions).toContain('createChangeRequest');
    expect(actions.filter((action) => OF_PEOPLE.includes(action))).toEqual([]);
  });

  it('is refused to users without the permission', async () => {
    world = await startWorld((name, action) => name !== 'Eve' || !OF_PEOPLE.includes(action));
    const { id } = await world.flags.as('ann').changeRequests.create([adding('a')]);
    for (const sent of requests(world.app, id)) await sent.set('x-user', 'eve').expect(403);
    expect(await world.strategiesOf('a')).toBe(1);
  });
});

describe('who made an API token', () => {
  let world: World;
  afterEach(() => world.flags.close());

  it('counts as its person: nobody approves what her own token has requested', async () => {
    world = await startWorld();
    const { flags } = world;
    const created = await world.as('ann', 'post', '/api/admin/api-tokens').send({ tokenName: 'ci', type: 'admin' });
    expect(created.body).toMatchObject({ createdBy: { name: 'Ann' } });
    const list = await world.as('bea', 'get', '/api/admin/api-tokens').expect(200);
    expect(list.body.tokens).toMatchObject([{ tokenName: 'ci', createdBy: { name: 'Ann' } }]);
    expect(list.text).not.toContain('u-1');
    const { app } = await createHostApp({ engine: flags, router: { auth: 'token' } });
    const send = (secret: string) =>
      request(app)
        .post(REQUESTS)
        .set('authorization', secret)
        .send({ changes: [adding('a')] });
    // A token that a token makes has the same person, and so has a rotated one.
    const made = await request(app)
      .post('/api/admin/api-tokens')
      .set('authorization', created.body.secret)
      .send({ tokenName: 'child', type: 'admin' })
      .expect(201);
    const rotated = await request(app)
      .post('/api/admin/api-tokens/rotate')
      .set('authorization', created.body.secret)
      .send({ id: made.body.id })
      .expect(201);
    for (const { secret } of [created.body, made.body, rotated.body]) {
      const { body } = await send(secret).expect(201);
      expect(body.author).toMatchObject({ tokenType: 'admin', person: 'Ann' });
      const refused = await world.decide('ann-renamed', body.id, 'approve', { status: 409 });
      expect(refused.body.code).toBe('own_change_request');
      await world.decide('bea', body.id, 'approve');
    }
    const { secret } = await flags.tokens.create({ name: 'configured', kind: 'admin' });
    const { body } = await send(secret).expect(201);
    expect(body.author.person).toBeNull();
    await world.decide('ann', body.id, 'approve');
  });
});

describe('a bypass', () => {
  let world: World;
  afterEach(() => world.flags.close());

  const bypassing = (user: string, method: 'post' | 'put' | 'delete', path: string) =>
    request(world.app)
      [method](path)
      .set('x-user', user)
      .set('x-bypass-approval', encodeURIComponent('INC-42: für alle'));
  const changing = (user: string, ...projects: readonly Project[]) =>
    bypassing(user, 'post', '/api/admin/changes').send({ changes: projects.map(adding) });
  const strategyPath = ({ project, flag, environment, strategy }: StrategyRef) =>
    `/api/admin/projects/${project}/features/${flag}/environments/${environment}/strategies/${strategy}`;
  const definitions = {
    version: 1,
    flags: (['a', 'b'] as const).map((project) => ({ name: `flag-${project}`, project, archived: true })),
  };

  /** Eve may bypass approvals in project a only, and do everything else. */
  const WITHOUT_BYPASS_IN_B: Rule = (name, action, project) =>
    name !== 'Eve' || action !== 'bypassApproval' || project === 'a';

  it.each<[string, (user: string, set: string) => Test]>([
    ['a single operation', (user) => bypassing(user, 'delete', '/api/admin/projects/b/features/flag-b')],
    ['a change set', (user) => changing(user, 'a', 'b')],
    ['an undo', (user, set) => bypassing(user, 'post', `/api/admin/changes/${set}/undo`)],
    ['an import', (user) => bypassing(user, 'post', '/api/admin/import').send({ definitions })],
    [
      'a rollout',
      (user) =>
        bypassing(user, 'post', `${strategyPath(world.refs.b)}/rollout`).send({
          steps: [{ percentage: 50, hold: null }],
        }),
    ],
  ])('of %s needs the permission in every project, and changes nothing without it', async (_case, send) => {
    world = await startWorld(WITHOUT_BYPASS_IN_B);
    const set = `${(await changing('ann', 'a', 'b').expect(200)).body.id}`;
    const before = await world.flags.events.list();
    await send('eve', set).expect(403);
    expect(await world.flags.events.list()).toEqual(before);
    await send('ann', set).expect(({ status }) => expect(status).toBeLessThan(300));
  });

  it('is logged with its reason, after the one of the change', async () => {
    world = await startWorld(WITHOUT_BYPASS_IN_B);
    await changing('eve', 'a').set('x-change-reason', 'Launch').expect(200);
    const [event] = (await world.flags.events.list({ limit: 1 })).items;
    expect(event).toMatchObject({ origin: 'bypass', reason: 'Launch\nINC-42: für alle', actor: 'Eve' });
  });

  it('needs a reason, and a route whose change may need approval', async () => {
    world = await startWorld();
    const send = (path: string, reason: string) =>
      request(world.app).post(path).set('x-user', 'ann').set('x-bypass-approval', reason);
    await send('/api/admin/changes', '%20')
      .send({ changes: [adding('a')] })
      .expect(400);
    await send(REQUESTS, 'Urgent')
      .send({ changes: [adding('a')], reason: 'Launch' })
      .expect(400);
    expect(await world.strategiesOf('a')).toBe(1);
  });
});
