import type { Change, Flags, StrategyRef } from '@flags/core';
import type { Express } from 'express';
import request, { type Test } from 'supertest';
import type { Action } from '../../express/src/index.js';
import { createHostApp } from './host-app.js';

const POLICY = '/api/admin/approval-policy';
const PROPOSALS = '/api/admin/proposals';
const UNKNOWN_ID = '0198f4a2-7c1e-7b52-9d3e-5c1c8f2a7b11';
const PROTECTING = { environments: { production: { required: 1 } } };
const MOVES = ['approve', 'reject', 'withdraw', 'apply'] as const;
const OF_PEOPLE: readonly Action[] = ['decideProposal', 'changeApprovalPolicy', 'bypassApproval'];
const HOUR = 3_600_000;

type Project = 'a' | 'b';

const [A, B] = [{ project: 'a' }, { project: 'b' }];
const production = (project: Project) => ({ project, flag: `flag-${project}`, environment: 'production' });
/** Clients of production would see it. */
const adding = (project: Project): Change => ({
  op: 'addStrategy',
  ref: production(project),
  input: { name: 'default' },
});

interface User {
  readonly name: string;
  readonly id?: string;
}

/** Renamed during a test, and one person in two sessions. */
const USERS: Record<string, User> = {
  ann: { name: 'Ann', id: 'u-1' },
  'ann-renamed': { name: 'Ann Miller', id: 'u-1' },
  bea: { name: 'Bea', id: 'u-2' },
  'bea-at-home': { name: 'bea@example.org', id: 'u-2' },
  eve: { name: 'Eve', id: 'u-3' },
  namesake: { name: ' ANN ' },
};

type Rule = (name: string, action: Action, project: string | null) => boolean;

interface World {
  readonly app: Express;
  readonly flags: Flags;
  readonly asked: string[];
  /** The first strategies of the flags. */
  readonly refs: Readonly<Record<Project, StrategyRef>>;
}

/** Eve may do everything in project a, and nothing elsewhere; the others everything. */
const LIMITED: Rule = (name, _action, project) => name !== 'Eve' || project === 'a';

async function start(rule: Rule = LIMITED): Promise<World> {
  const asked: string[] = [];
  const { app, flags } = await createHostApp<User>({
    flags: { runSchedules: 'elsewhere' },
    router: {
      auth: (sent) => USERS[String(sent.headers['x-user'])] ?? null,
      authorize: ({ name }, action, project) => {
        asked.push(`${action} ${project}`);
        return rule(name, action, project);
      },
    },
  });
  const addGradual = async (project: Project): Promise<StrategyRef> => {
    const ref = production(project);
    await flags.createProject({ id: project, name: project });
    await flags.createFlag({ project }, { name: ref.flag });
    const parameters = { rollout: 5, stickiness: 'default', groupId: ref.flag };
    const { id } = await flags.addStrategy(ref, { name: 'flexibleRollout', parameters });
    await flags.enable(ref);
    return { ...ref, strategy: id };
  };
  const refs = { a: await addGradual('a'), b: await addGradual('b') };
  await flags.setApprovalPolicy(PROTECTING);
  return { app, flags, asked, refs };
}

async function strategiesOf(flags: Flags, project: Project): Promise<number> {
  const { environments } = await flags.getFlag(production(project));
  return environments.find(({ name }) => name === 'production')?.strategies.length ?? 0;
}

describe('proposals over HTTP', () => {
  let world: World;
  afterEach(() => world.flags.close());

  const as = (user: string, method: 'get' | 'post' | 'put' | 'delete', path: string) =>
    request(world.app)[method](path).set('x-user', user);
  const propose = (user: string, ...projects: readonly Project[]) =>
    as(user, 'post', PROPOSALS).send({ changes: projects.map(adding), reason: 'Launch' });
  const move = (user: string, id: string, path: (typeof MOVES)[number]) =>
    as(user, 'post', `${PROPOSALS}/${id}/${path}`);
  const proposedBy = async (user: string, ...projects: readonly Project[]): Promise<string> =>
    (await propose(user, ...projects).expect(201)).body.id;

  it('let one person propose and apply, and another approve', async () => {
    world = await start();
    const { body } = await propose('ann', 'a').expect(201);
    expect(body).toMatchObject({ state: 'open', required: 1, author: { name: 'Ann' } });
    await move('ann', body.id, 'apply').expect(409);
    await move('bea', body.id, 'approve').expect(200);
    expect((await move('ann', body.id, 'apply').expect(200)).body).toMatchObject({ state: 'applied' });
    expect(await strategiesOf(world.flags, 'a')).toBe(2);
    const { items } = await world.flags.listEvents({ limit: 2 });
    expect(items.map(({ origin, actor }) => [origin, actor])).toEqual([
      [`proposal/${body.id}`, 'Ann'],
      [`proposal/${body.id}`, 'Ann'],
    ]);
  });

  it('ask for the action of the proposal, and of each change, in every project', async () => {
    world = await start();
    const ask = async (send: () => Test) => {
      world.asked.length = 0;
      await send().expect(({ status }) => expect(status).toBeLessThan(300));
      return new Set(world.asked);
    };
    const both = (...actions: readonly Action[]) => actions.flatMap((action) => [`${action} a`, `${action} b`]);
    const id = UNKNOWN_ID;
    const made = await ask(() => propose('ann', 'a', 'b').set('idempotency-key', id));
    expect([...made].toSorted()).toEqual(both('addStrategy', 'createProposal').toSorted());
    const approved = await ask(() => move('bea', id, 'approve'));
    for (const question of both('getProposal', 'decideProposal')) expect(approved).toContain(question);
    const applied = await ask(() => move('ann', id, 'apply'));
    for (const question of both('getProposal', 'applyProposal', 'addStrategy')) expect(applied).toContain(question);
    const rollout = { ref: world.refs.a, steps: [{ rollout: 50, hold: null }] };
    const started = await ask(() => as('ann', 'post', PROPOSALS).send({ rollout, reason: 'Launch' }));
    expect([...started].toSorted()).toEqual(['createProposal a', 'startRollout a', 'updateStrategy a']);
  });

  it.each<[Action, string]>([
    ['createProposal', 'the proposal'],
    ['addStrategy', 'one of its changes'],
  ])('refuse to propose without the permission %s, for %s', async (refused) => {
    world = await start((_name, action) => action !== refused);
    await propose('eve', 'a').expect(403);
    expect((await world.flags.listProposals()).items).toEqual([]);
  });

  it.each<[Action, (typeof MOVES)[number]]>([
    ['decideProposal', 'approve'],
    ['decideProposal', 'reject'],
    ['withdrawProposal', 'withdraw'],
    ['applyProposal', 'apply'],
    ['addStrategy', 'apply'],
  ])('refuse a caller without the permission %s to %s', async (refused, path) => {
    world = await start((name, action) => name !== 'Eve' || action !== refused);
    const id = await proposedBy('ann', 'a');
    if (path === 'apply') await move('bea', id, 'approve').expect(200);
    const { state } = await world.flags.getProposal({ proposal: id });
    await move('eve', id, path).expect(403);
    expect((await world.flags.getProposal({ proposal: id })).state).toBe(state);
    expect(await strategiesOf(world.flags, 'a')).toBe(1);
  });

  it('hide what touches another project: from lists, reads, decisions and events', async () => {
    world = await start();
    const own = await proposedBy('ann', 'a');
    const foreign = await proposedBy('ann', 'b');
    const both = await proposedBy('ann', 'a', 'b');
    const list = await as('eve', 'get', PROPOSALS).expect(200);
    expect(list.body.proposals.map(({ id }: { readonly id: string }) => id)).toEqual([own]);
    await as('eve', 'get', `${PROPOSALS}/${own}`).expect(200);
    for (const id of [foreign, both]) {
      for (const [method, path] of [['get', ''], ...MOVES.map((one) => ['post', `/${one}`] as const)] as const) {
        const refused = await as('eve', method, `${PROPOSALS}/${id}${path}`).expect(404);
        const absent = await as('eve', method, `${PROPOSALS}/${UNKNOWN_ID}${path}`).expect(404);
        expect(refused.text.replaceAll(id, UNKNOWN_ID)).toBe(absent.text);
      }
      expect((await world.flags.getProposal({ proposal: id })).state).toBe('open');
    }
    await propose('eve', 'b').expect(403);
    await propose('eve', 'a', 'b').expect(403);
    const events = await as('eve', 'get', '/api/admin/history').expect(200);
    expect(JSON.stringify(events.body)).not.toMatch(new RegExp(`${foreign}|${both}`));
  });

  it('also hide a proposal whose effects are in another project, such as that of a segment', async () => {
    world = await start();
    const { id: segment } = await world.flags.createSegment({ name: 'vip', constraints: [] });
    const bypass = { bypassApproval: 'Test' };
    for (const project of ['a', 'b'] as const) {
      await world.flags.addStrategy(production(project), { name: 'default', segments: [segment] }, bypass);
    }
    const ref = { segment, project: null };
    const changes = [
      { op: 'updateSegment', ref, input: { constraints: [{ contextName: 'x', operator: 'IN', values: ['1'] }] } },
    ];
    const { body } = await as('ann', 'post', PROPOSALS).send({ changes, reason: 'VIPs' }).expect(201);
    await as('eve', 'get', `${PROPOSALS}/${body.id}`).expect(404);
    expect((await as('eve', 'get', PROPOSALS).expect(200)).body.proposals).toEqual([]);
    await move('bea', body.id, 'approve').expect(200);
  });

  it('follow a flag into another project', async () => {
    world = await start();
    const id = await proposedBy('ann', 'a');
    await world.flags.moveFlag({ ...A, flag: 'flag-a' }, B, { bypassApproval: 'Moved' });
    await as('eve', 'get', `${PROPOSALS}/${id}`).expect(404);
    await move('eve', id, 'approve').expect(404);
    const { body } = await as('ann', 'get', `${PROPOSALS}?project=b`).expect(200);
    expect(body.proposals).toMatchObject([{ id }]);
  });

  it('count the flags that a caller may not read, when their change needs approval', async () => {
    world = await start((name, action, project) => name !== 'Eve' || project === 'a' || action !== 'getFlag');
    const send = (user: string) => as(user, 'post', '/api/admin/changes').send({ changes: [adding('a'), adding('b')] });
    const full = (await send('ann').expect(409)).body;
    expect(full.details.map(({ path }: { readonly path: string }) => path)).toEqual([
      '/environments/production/a/flag-a',
      '/environments/production/b/flag-b',
    ]);
    const { body, text } = await send('eve').expect(409);
    expect(body.details).toMatchObject([
      { path: '/environments/production/a/flag-a' },
      { message: '1 flag that you may not read', path: '/environments' },
    ]);
    expect(text).not.toContain('flag-b');
  });

  it.each<[string, string]>([
    ['a user who was renamed', 'ann-renamed'],
    ['a user without an id, who has the same name', 'namesake'],
  ])('refuse the approval of the author: %s', async (_case, user) => {
    world = await start();
    const id = await proposedBy('ann', 'a');
    expect((await move(user, id, 'approve').expect(409)).body.code).toBe('own_proposal');
  });

  it('count a person with two sessions once', async () => {
    world = await start();
    await world.flags.setApprovalPolicy({ environments: { production: { required: 2 } } });
    const id = await proposedBy('ann', 'a');
    await move('bea', id, 'approve').expect(200);
    const { body } = await move('bea-at-home', id, 'approve').expect(200);
    expect(body).toMatchObject({ state: 'open', approvals: [{ actor: 'Bea' }] });
    expect((await move('ann', id, 'apply').expect(409)).body.code).toBe('approval_required');
    expect((await move('eve', id, 'approve').expect(200)).body).toMatchObject({ state: 'approved' });
    expect(JSON.stringify((await as('ann', 'get', `${PROPOSALS}/${id}`)).body)).not.toContain('u-2');
  });

  it('refuse a stale revision', async () => {
    world = await start();
    const made = await propose('ann', 'a').expect(201);
    const { id } = made.body;
    const stale = `${made.headers.etag}`;
    const read = await as('bea', 'get', `${PROPOSALS}/${id}`).expect(200);
    expect(read.headers.etag?.split('-')[0]).toBe(stale.split('-')[0]);
    await move('bea', id, 'approve').set('if-match', `${read.headers.etag}`).expect(200);
    for (const path of MOVES) await move('bea', id, path).set('if-match', stale).expect(412);
    const { etag } = (await as('bea', 'get', `${PROPOSALS}/${id}`).expect(200)).headers;
    await move('ann', id, 'apply').set('if-match', `${etag}`).expect(200);
  });

  it('are made and applied once by requests with the same key', async () => {
    world = await start();
    const [key, other] = [UNKNOWN_ID, UNKNOWN_ID.replace('b11', 'b12')];
    const first = await propose('ann', 'a').set('idempotency-key', key).expect(201);
    expect(first.body.id).toBe(key);
    expect((await propose('ann', 'a').set('idempotency-key', key).expect(201)).text).toBe(first.text);
    expect((await propose('ann', 'b').set('idempotency-key', key).expect(409)).body.code).toBe('id_taken');
    expect((await propose('bea', 'a').set('idempotency-key', key).expect(409)).body.code).toBe('id_taken');
    await move('bea', key, 'approve').expect(200);
    const applied = await move('ann', key, 'apply').set('idempotency-key', other).expect(200);
    expect(applied.body.changeSet).toBe(other);
    expect((await move('ann', key, 'apply').set('idempotency-key', other).expect(200)).text).toBe(applied.text);
    expect((await move('ann', key, 'apply').expect(409)).body.code).toBe('proposal_not_open');
    expect(await strategiesOf(world.flags, 'a')).toBe(2);
  });
});

describe('what only people do', () => {
  let world: World;
  afterEach(() => world.flags.close());

  /** Each request needs one of the actions of people. */
  const requests = (app: Express, id: string): readonly Test[] => [
    request(app).put(POLICY).send({ environments: {} }),
    request(app).post(`${PROPOSALS}/${id}/approve`),
    request(app).post(`${PROPOSALS}/${id}/reject`),
    request(app)
      .post('/api/admin/changes')
      .set('x-bypass-approval', 'Urgent')
      .send({ changes: [adding('a')] }),
    request(app).delete('/api/admin/projects/a/features/flag-a').set('x-bypass-approval', 'Urgent'),
  ];

  it('is refused to API tokens, before authorize is asked', async () => {
    world = await start();
    const { flags } = world;
    const { id } = await flags.as('ann').createProposal({ changes: [adding('a')] }, { reason: 'Launch' });
    const { secret } = await flags.createToken({ name: 'ci', kind: 'admin' });
    const authorize = jest.fn((_actor: unknown, _action: Action) => true);
    const { app } = await createHostApp({ engine: flags, router: { auth: 'token', authorize } });
    for (const sent of requests(app, id)) {
      const { body } = await sent.set('authorization', secret).expect(403);
      expect(body.message).toMatch(/^API tokens (may not|cannot) /);
    }
    expect(authorize.mock.calls.filter(([, action]) => OF_PEOPLE.includes(action))).toEqual([]);
    expect(await flags.getApprovalPolicy()).toEqual(PROTECTING);
    expect(await flags.getProposal({ proposal: id })).toMatchObject({ state: 'open', approvals: [] });
    // A token may propose, and apply what people have approved.
    const send = (path: string, body: object) => request(app).post(path).set('authorization', secret).send(body);
    const made = await send(PROPOSALS, { changes: [adding('a')], reason: 'Release' }).expect(201);
    await flags.as('ann').approveProposal({ proposal: made.body.id });
    await send(`${PROPOSALS}/${made.body.id}/apply`, {}).expect(200);
    await send(`${PROPOSALS}/${id}/withdraw`, {}).expect(200);
    expect(await strategiesOf(flags, 'a')).toBe(2);
  });

  it('is refused without authentication', async () => {
    world = await start();
    const { flags } = world;
    const { id } = await flags.as('ann').createProposal({ changes: [adding('a')] }, { reason: 'Launch' });
    const { app } = await createHostApp({ engine: flags, router: { auth: 'none' } });
    for (const sent of requests(app, id)) {
      const { body } = await sent.expect(403);
      expect(body.message).toMatch(/^Anonymous callers may not \w+\. Approvals need users/);
    }
    expect(await flags.getApprovalPolicy()).toEqual(PROTECTING);
    const actions: readonly Action[] = (await request(app).get('/api/admin/session?project=a').expect(200)).body
      .actions;
    expect(actions).toContain('createProposal');
    expect(actions.filter((action) => OF_PEOPLE.includes(action))).toEqual([]);
  });

  it('is refused to users without the permission', async () => {
    world = await start((name, action) => name !== 'Eve' || !OF_PEOPLE.includes(action));
    const { id } = await world.flags.as('ann').createProposal({ changes: [adding('a')] }, { reason: 'Launch' });
    for (const sent of requests(world.app, id)) await sent.set('x-user', 'eve').expect(403);
    expect(await strategiesOf(world.flags, 'a')).toBe(1);
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
  const definitions = {
    version: 1,
    flags: (['a', 'b'] as const).map((project) => ({ name: `flag-${project}`, project, archived: true })),
  };
  const at = new Date(Date.now() + HOUR).toISOString();

  /** Eve may bypass approvals in project a only, and do everything else. */
  const WITHOUT_BYPASS_IN_B: Rule = (name, action, project) =>
    name !== 'Eve' || action !== 'bypassApproval' || project === 'a';

  it.each<[string, (user: string, set: string) => Test]>([
    ['a single operation', (user) => bypassing(user, 'delete', '/api/admin/projects/b/features/flag-b')],
    ['a change set', (user) => changing(user, 'a', 'b')],
    ['an undo', (user, set) => bypassing(user, 'post', `/api/admin/changes/${set}/undo`)],
    ['an import', (user) => bypassing(user, 'post', '/api/admin/import').send({ definitions })],
    [
      'a schedule',
      (user) => bypassing(user, 'post', '/api/admin/schedules').send({ changes: [adding('a'), adding('b')], at }),
    ],
    [
      'a rollout',
      (user) =>
        bypassing(user, 'post', '/api/admin/rollouts').send({
          ref: world.refs.b,
          steps: [{ rollout: 50, hold: null }],
        }),
    ],
  ])('of %s needs the permission in every project, and changes nothing without it', async (_case, send) => {
    world = await start(WITHOUT_BYPASS_IN_B);
    const set = `${(await changing('ann', 'a', 'b').expect(200)).body.id}`;
    const before = await world.flags.listEvents();
    await send('eve', set).expect(403);
    expect(await world.flags.listEvents()).toEqual(before);
    await send('ann', set).expect(({ status }) => expect(status).toBeLessThan(300));
  });

  it('is logged with its reason, after the one of the change', async () => {
    world = await start(WITHOUT_BYPASS_IN_B);
    await changing('eve', 'a').set('x-change-reason', 'Launch').expect(200);
    const [event] = (await world.flags.listEvents({ limit: 1 })).items;
    expect(event).toMatchObject({ origin: 'bypass', reason: 'Launch\nINC-42: für alle', actor: 'Eve' });
  });

  it('needs a reason, and a route whose change may need approval', async () => {
    world = await start();
    const send = (path: string, reason: string) =>
      request(world.app).post(path).set('x-user', 'ann').set('x-bypass-approval', reason);
    await send('/api/admin/changes', '%20')
      .send({ changes: [adding('a')] })
      .expect(400);
    await send(PROPOSALS, 'Urgent')
      .send({ changes: [adding('a')], reason: 'Launch' })
      .expect(400);
    expect(await strategiesOf(world.flags, 'a')).toBe(1);
  });
});
