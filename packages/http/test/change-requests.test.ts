import type { Change, Flags } from '@flags/core';
import type { Action } from '../../express/src/index.js';
import {
  adding,
  DECISIONS,
  type DecisionName,
  HOUR,
  PROTECTING,
  type Project,
  production,
  REQUESTS,
  startWorld,
  UNKNOWN_ID,
  type World,
} from './change-requests-world.js';

const B = { project: 'b' };
const bypass = { bypassApproval: 'Test' };

let world: World;
afterEach(() => world.flags.close());

const stateOf = async (id: string) => (await world.flags.changeRequests.get({ changeRequest: id })).state;
const both = (...actions: readonly Action[]) => actions.flatMap((action) => [`${action} a`, `${action} b`]);

/** Returns the questions to `authorize` during a successful request. */
async function askedDuring(send: () => Promise<{ readonly status: number }>): Promise<ReadonlySet<string>> {
  world.asked.length = 0;
  expect((await send()).status).toBeLessThan(300);
  return new Set(world.asked);
}

describe('a change request over HTTP', () => {
  it('is made and applied by one person, and approved by another', async () => {
    world = await startWorld();
    const { body } = await world.ask('ann', 'a').expect(201);
    expect(body).toMatchObject({ state: 'open', required: 1, author: { name: 'Ann' }, appliedBy: null });
    await world.decide('ann', body.id, 'apply', { status: 409 });
    await world.decide('bea', body.id, 'approve');
    const applied = await world.decide('ann', body.id, 'apply');
    expect(applied.body).toMatchObject({ state: 'applied', appliedBy: { name: 'Ann' } });
    expect(await world.strategiesOf('a')).toBe(2);
    const { items } = await world.flags.events.list({ limit: 2 });
    expect(items.map(({ origin, actor }) => [origin, actor])).toEqual([
      [`change-request/${body.id}`, 'Ann'],
      [`change-request/${body.id}`, 'Ann'],
    ]);
  });

  it('is approved as it was seen: after an edit in between, the approval is refused', async () => {
    world = await startWorld();
    const id = await world.askedBy('ann', 'a');
    const seen = await world.as('bea', 'get', `${REQUESTS}/${id}`).expect(200);
    await world.flags.updateStrategy(world.refs.a, { name: 'default' }, bypass);
    const approve = (effect: string) => world.as('bea', 'post', `${REQUESTS}/${id}/approve`).send({ effect });
    const refused = await approve(seen.body.effect).expect(409);
    expect(refused.body.code).toBe('effect_changed');
    const now = await world.as('bea', 'get', `${REQUESTS}/${id}`).expect(200);
    expect(refused.body.message).toContain(now.body.effect);
    // The effect is a part of the tag, although the request has the same revision.
    expect(now.headers.etag).not.toBe(seen.headers.etag);
    expect(now.headers.etag?.split('-')[0]).toBe(seen.headers.etag?.split('-')[0]);
    await world.as('bea', 'get', `${REQUESTS}/${id}`).set('if-none-match', `${now.headers.etag}`).expect(304);
    expect((await approve(now.body.effect).expect(200)).body.state).toBe('approved');
  });

  it('asks for its action, and to read, in every project; for each change only with a time', async () => {
    world = await startWorld();
    const segment: Change = { op: 'createSegment', input: { name: 'beta', constraints: [], project: 'a' } };
    const made = await askedDuring(() => world.ask('ann', 'a', 'b').set('idempotency-key', UNKNOWN_ID));
    expect([...made].toSorted()).toEqual(both('createChangeRequest', 'getFlag').toSorted());
    const at = new Date(Date.now() + HOUR).toISOString();
    const changes = [adding('a'), adding('b'), segment];
    const timed = await askedDuring(() => world.as('ann', 'post', REQUESTS).send({ changes, at }));
    expect([...timed].toSorted()).toEqual(
      [...both('addStrategy', 'createChangeRequest', 'getFlag'), 'createSegment a'].toSorted(),
    );
    const approved = await askedDuring(() => world.decide('bea', UNKNOWN_ID, 'approve'));
    for (const question of both('getChangeRequest', 'decideChangeRequest')) expect(approved).toContain(question);
    const applied = await askedDuring(() => world.decide('ann', UNKNOWN_ID, 'apply'));
    const needed = both('getChangeRequest', 'applyChangeRequest', 'addStrategy');
    for (const question of needed) expect(applied).toContain(question);
  });

  it.each<[Action]>([['createChangeRequest'], ['getFlag']])('is refused without the permission %s', async (refused) => {
    world = await startWorld((_name, action) => action !== refused);
    await world.ask('eve', 'a').expect(403);
    expect((await world.flags.changeRequests.list()).items).toEqual([]);
  });

  it('can be made by somebody who may not make the change, but not with a time', async () => {
    world = await startWorld((name, action) => name !== 'Eve' || action !== 'addStrategy');
    const at = new Date(Date.now() + HOUR).toISOString();
    await world
      .as('eve', 'post', REQUESTS)
      .send({ changes: [adding('a')], at })
      .expect(403);
    expect((await world.flags.changeRequests.list()).items).toEqual([]);
    const id = await world.askedBy('eve', 'a');
    await world.decide('bea', id, 'approve');
    await world.decide('eve', id, 'apply', { status: 403 });
    await world.as('eve', 'post', `${REQUESTS}/${id}/apply`).send({ at }).expect(403);
    expect(await stateOf(id)).toBe('approved');
    await world.decide('ann', id, 'apply');
    expect(await world.strategiesOf('a')).toBe(2);
  });

  it.each<[Action, DecisionName]>([
    ['decideChangeRequest', 'approve'],
    ['decideChangeRequest', 'reject'],
    ['withdrawChangeRequest', 'withdraw'],
    ['applyChangeRequest', 'apply'],
    ['addStrategy', 'apply'],
  ])('refuses a caller without the permission %s to %s', async (refused, decision) => {
    world = await startWorld((name, action) => name !== 'Eve' || action !== refused);
    const id = await world.askedBy('ann', 'a');
    if (decision === 'apply') await world.decide('bea', id, 'approve');
    const state = await stateOf(id);
    await world.decide('eve', id, decision, { status: 403 });
    expect(await stateOf(id)).toBe(state);
    expect(await world.strategiesOf('a')).toBe(1);
  });

  it('needs the permission for its changes where clients of other projects see them', async () => {
    world = await startWorld(
      (name, action, project) => name !== 'Eve' || action !== 'updateSegment' || project !== 'b',
    );
    const { id: segment } = await world.flags.segments.create({ name: 'vip', constraints: [] });
    for (const project of ['a', 'b'] as const) {
      await world.flags.addStrategy(production(project), { name: 'default', segments: [segment] }, bypass);
    }
    const constraints = [{ contextName: 'x', operator: 'IN', values: ['1'] }];
    const changes = [{ op: 'updateSegment', ref: { segment, project: null }, input: { constraints } }];
    const { body } = await world.as('eve', 'post', REQUESTS).send({ changes }).expect(201);
    await world.decide('bea', body.id, 'approve');
    const { text } = await world.decide('eve', body.id, 'apply', { status: 403 });
    expect(text).not.toContain('flag-b');
    await world.decide('ann', body.id, 'apply');
  });

  it('is hidden from who may not read one of its projects: in lists, reads, decisions and events', async () => {
    world = await startWorld();
    const [own, foreign, shared] = [
      await world.askedBy('ann', 'a'),
      await world.askedBy('ann', 'b'),
      await world.askedBy('ann', 'a', 'b'),
    ];
    const list = await world.as('eve', 'get', REQUESTS).expect(200);
    expect(list.body.changeRequests.map(({ id }: { readonly id: string }) => id)).toEqual([own]);
    await world.as('eve', 'get', `${REQUESTS}/${own}`).expect(200);
    for (const id of [foreign, shared]) {
      for (const [method, path] of [['get', ''], ...DECISIONS.map((one) => ['post', `/${one}`] as const)] as const) {
        const refused = await world.as('eve', method, `${REQUESTS}/${id}${path}`).send({ effect: 'any' }).expect(404);
        const absent = await world.as('eve', method, `${REQUESTS}/${UNKNOWN_ID}${path}`).send({ effect: 'any' });
        expect(refused.text.replaceAll(id, UNKNOWN_ID)).toBe(absent.text);
      }
      const replacing = { changes: [adding('a')], replaces: id };
      const replaced = await world.as('eve', 'post', REQUESTS).send(replacing).expect(404);
      expect(replaced.body.code).toBe('change_request_not_found');
      expect(await stateOf(id)).toBe('open');
    }
    await world.ask('eve', 'b').expect(403);
    await world.ask('eve', 'a', 'b').expect(403);
    for (const path of ['/api/admin/history', '/api/admin/projects/a/features/flag-a/history']) {
      const { text } = await world.as('eve', 'get', path).expect(200);
      expect(text).not.toMatch(new RegExp(`${foreign}|${shared}`));
    }
  });

  it('is hidden too if its effects are in another project, such as those of a segment', async () => {
    world = await startWorld();
    const { id: segment } = await world.flags.segments.create({ name: 'vip', constraints: [] });
    for (const project of ['a', 'b'] as const) {
      await world.flags.addStrategy(production(project), { name: 'default', segments: [segment] }, bypass);
    }
    const constraints = [{ contextName: 'x', operator: 'IN', values: ['1'] }];
    const changes = [{ op: 'updateSegment', ref: { segment, project: null }, input: { constraints } }];
    const { body } = await world.as('ann', 'post', REQUESTS).send({ changes, reason: 'VIPs' }).expect(201);
    await world.as('eve', 'get', `${REQUESTS}/${body.id}`).expect(404);
    expect((await world.as('eve', 'get', REQUESTS).expect(200)).body.changeRequests).toEqual([]);
    await world.decide('bea', body.id, 'approve');
  });

  it('is hidden by the project of a document that it does not change yet', async () => {
    world = await startWorld();
    const input = { name: 'beta', constraints: [], project: 'b' };
    const { id: segment } = await world.flags.segments.create(input);
    const changes: readonly Change[] = [adding('a'), { op: 'updateSegment', ref: { segment }, input }];
    for (const requested of [changes, changes.slice(1)]) {
      const { body } = await world.as('ann', 'post', REQUESTS).send({ changes: requested }).expect(201);
      await world.as('eve', 'get', `${REQUESTS}/${body.id}`).expect(404);
      for (const decision of DECISIONS) await world.decide('eve', body.id, decision, { status: 404 });
    }
    expect((await world.as('eve', 'get', REQUESTS).expect(200)).body.changeRequests).toEqual([]);
    // What would change nothing of the instance is about the instance.
    const policy = { op: 'setApprovalPolicy', input: PROTECTING };
    const { body } = await world
      .as('ann', 'post', REQUESTS)
      .send({ changes: [policy] })
      .expect(201);
    await world.as('eve', 'get', `${REQUESTS}/${body.id}`).expect(404);
  });

  it('about members is hidden from those who may not read the event log', async () => {
    world = await startWorld((name, action) => name !== 'Eve' || action !== 'listEvents');
    const changes = [{ op: 'addMember', ref: { project: 'a' }, input: { userId: 7, roleId: 4 } }];
    const { body } = await world.as('ann', 'post', REQUESTS).send({ changes }).expect(201);
    await world.as('eve', 'get', `${REQUESTS}/${body.id}`).expect(404);
    await world.as('bea', 'get', `${REQUESTS}/${body.id}`).expect(200);
  });

  it('follows its flag into another project', async () => {
    world = await startWorld();
    const id = await world.askedBy('ann', 'a');
    await world.flags.moveFlag({ project: 'a', flag: 'flag-a' }, B, { bypassApproval: 'Moved' });
    await world.as('eve', 'get', `${REQUESTS}/${id}`).expect(404);
    expect((await world.as('eve', 'get', REQUESTS).expect(200)).body.changeRequests).toEqual([]);
    await world.decide('eve', id, 'approve', { status: 404 });
    const { body } = await world.as('ann', 'get', `${REQUESTS}?project=b`).expect(200);
    expect(body.changeRequests).toMatchObject([{ id }]);
  });

  it('counts the flags that a caller may not read, when their change needs approval', async () => {
    world = await startWorld((name, action, project) => name !== 'Eve' || project === 'a' || action !== 'getFlag');
    const send = (user: string) =>
      world.as(user, 'post', '/api/admin/changes').send({ changes: [adding('a'), adding('b')] });
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
  ])('refuses the approval of its author: %s', async (_case, user) => {
    world = await startWorld();
    const id = await world.askedBy('ann', 'a');
    const { body } = await world.decide(user, id, 'approve', { status: 409 });
    expect(body.code).toBe('own_change_request');
  });

  it('counts a person with two sessions once, and tells nobody the ids of people', async () => {
    world = await startWorld();
    await world.flags.approvalPolicy.set({ environments: { production: { required: 2 } } });
    const id = await world.askedBy('ann', 'a');
    await world.decide('bea', id, 'approve');
    const { body } = await world.decide('bea-at-home', id, 'approve');
    expect(body).toMatchObject({ state: 'open', approvals: [{ actor: 'Bea' }] });
    const refused = await world.decide('ann', id, 'apply', { status: 409 });
    expect(refused.body.code).toBe('approval_required');
    expect((await world.decide('eve', id, 'approve')).body).toMatchObject({ state: 'approved' });
    for (const path of [REQUESTS, `${REQUESTS}/${id}`, '/api/admin/events']) {
      expect((await world.as('ann', 'get', path).expect(200)).text).not.toMatch(/u-[123]/);
    }
  });

  it('compares If-Match with its revision, and logs the reason of a decision', async () => {
    world = await startWorld();
    const made = await world.ask('ann', 'a').expect(201);
    const { id } = made.body;
    const stale = `${made.headers.etag}`;
    const tagOf = async () => (await world.as('bea', 'get', `${REQUESTS}/${id}`).expect(200)).headers.etag ?? '';
    expect((await tagOf()).split('-')[0]).toBe(stale.split('-')[0]);
    await world.decide('bea', id, 'approve', { headers: { 'if-match': await tagOf() } });
    for (const decision of DECISIONS)
      await world.decide('bea', id, decision, { status: 412, headers: { 'if-match': stale } });
    const headers = { 'if-match': await tagOf(), 'x-change-reason': 'Not%20yet' };
    await world.decide('ann', id, 'withdraw', { headers });
    const [event] = (await world.flags.events.list({ limit: 1 })).items;
    expect(event).toMatchObject({ type: 'change-request-ended', reason: 'Not yet', actor: 'Ann' });
  });

  it('is made and applied once by requests with the same key', async () => {
    world = await startWorld();
    const [key, other] = [UNKNOWN_ID, UNKNOWN_ID.replace('b11', 'b12')];
    const first = await world.ask('ann', 'a').set('idempotency-key', key).expect(201);
    expect(first.body.id).toBe(key);
    expect((await world.ask('ann', 'a').set('idempotency-key', key).expect(201)).text).toBe(first.text);
    expect((await world.ask('ann', 'b').set('idempotency-key', key).expect(409)).body.code).toBe('id_taken');
    expect((await world.ask('bea', 'a').set('idempotency-key', key).expect(409)).body.code).toBe('id_taken');
    await world.decide('bea', key, 'approve');
    const headers = { 'idempotency-key': other };
    const applied = await world.decide('ann', key, 'apply', { headers });
    expect(applied.body.changeSet).toBe(other);
    expect((await world.decide('ann', key, 'apply', { headers })).text).toBe(applied.text);
    const again = await world.decide('ann', key, 'apply', { status: 409 });
    expect(again.body.code).toBe('change_request_not_open');
    expect(await world.strategiesOf('a')).toBe(2);
  });

  it('becomes a change set that only those see and undo who may read all of its projects', async () => {
    world = await startWorld();
    const changes: readonly Change[] = (['a', 'b'] as const).map((project) => ({
      op: 'updateFlag',
      ref: { project, flag: `flag-${project}` },
      input: { description: 'Later' },
    }));
    const due = { changes, at: new Date().toISOString(), reason: 'Both' };
    const { id } = (await world.as('bea', 'post', REQUESTS).send(due).expect(201)).body;
    expect((await world.flags.runDue()).items).toMatchObject([{ id, state: 'applied' }]);
    const { changeSet } = await world.flags.changeRequests.get({ changeRequest: id });
    const historyOf = async (user: string) => (await world.as(user, 'get', '/api/admin/history').expect(200)).text;
    expect(await historyOf('bea')).toContain(`change-request/${id}`);
    expect(await historyOf('eve')).not.toMatch(new RegExp(`${id}|Both`));
    const own = await world.as('eve', 'get', '/api/admin/projects/a/features/flag-a/history').expect(200);
    expect(own.text).not.toMatch(new RegExp(`${id}|Both`));
    const undo = (user: string) => world.as(user, 'post', `/api/admin/changes/${changeSet}/undo`).send({});
    await undo('eve').expect(403);
    await undo('bea').expect(200);
  });

  it('replaces an open request in the same commit, with the permission to withdraw that one', async () => {
    world = await startWorld((name, action) => name !== 'Eve' || action !== 'withdrawChangeRequest');
    const old = await world.askedBy('ann', 'a');
    await world.decide('bea', old, 'approve');
    const copy = { changes: [adding('a'), adding('a')], replaces: old };
    await world.as('eve', 'post', REQUESTS).send(copy).expect(403);
    expect(await stateOf(old)).toBe('approved');
    const { body } = await world.as('ann', 'post', REQUESTS).send(copy).expect(201);
    expect(body).toMatchObject({ state: 'open', approvals: [] });
    expect(await stateOf(old)).toBe('withdrawn');
    const [withdrawn, created] = (await world.flags.events.list({ limit: 2 })).items;
    expect(withdrawn?.changeSet).toBe(created?.changeSet);
    const again = await world.as('ann', 'post', REQUESTS).send(copy).expect(409);
    expect(again.body.code).toBe('change_request_not_open');
  });

  it('is found by the filter of its flag, and its events name the flags, the people and the decision', async () => {
    world = await startWorld((name, _action, project) => name !== 'Eve' || project !== 'b');
    const id = await world.askedBy('ann', 'a', 'b');
    const own = await world.askedBy('ann', 'a');
    await world.decide('bea', id, 'approve');
    await world.decide('ann', id, 'withdraw');
    const { body } = await world.as('ann', 'get', `${REQUESTS}?flag=flag-b`).expect(200);
    expect(body.changeRequests).toMatchObject([{ id }]);
    const flags = (['a', 'b'] as const).map((project) => ({ project, flag: `flag-${project}` }));
    const told = { id, author: 'Ann', flags, flagCount: 2, environments: ['production'] };
    const eventsOf = async (user: string) =>
      (await world.as(user, 'get', '/api/admin/events?limit=4').expect(200)).body.events;
    const [ended, decided, ofOwn, created] = await eventsOf('ann');
    expect(ended).toMatchObject({
      type: 'change-request-ended',
      createdBy: 'Ann',
      data: { ...told, state: 'withdrawn' },
    });
    expect(decided).toMatchObject({
      type: 'change-request-decided',
      createdBy: 'Bea',
      data: { ...told, decision: 'approved' },
    });
    expect(ofOwn).toMatchObject({ type: 'change-request-created', data: { id: own } });
    expect(created).toMatchObject({
      type: 'change-request-created',
      createdBy: 'Ann',
      data: { ...told, state: 'open' },
    });
    // Eve sees the request of the project that she may read, and nothing of the other one.
    expect((await eventsOf('eve')).map(({ data }: { readonly data: { readonly id: string } }) => data.id)).toEqual([
      own,
    ]);
  });

  it('requests the undo of a change set, in the projects of the set', async () => {
    world = await startWorld();
    const set = async (project: Project) => (await world.flags.apply([adding(project)], bypass)).id as string;
    const [own, foreign] = [await set('a'), await set('b')];
    const undoing = (user: string, changeSet: string) =>
      world.as(user, 'post', REQUESTS).send({ changes: [{ op: 'undoChangeSet', ref: { changeSet } }] });
    await undoing('eve', foreign).expect(403);
    const { body } = await undoing('eve', own).expect(201);
    await world.decide('bea', body.id, 'approve');
    const applied = await askedDuring(() => world.decide('eve', body.id, 'apply'));
    for (const question of ['undoChange a', 'removeStrategy a']) expect(applied).toContain(question);
    expect(await world.strategiesOf('a')).toBe(1);
  });

  it('has no time where nothing is done at a time, and the session says so', async () => {
    world = await startWorld(undefined, { due: { run: false } });
    const session = async () => (await world.as('ann', 'get', '/api/admin/session').expect(200)).body;
    const at = new Date(Date.now() + HOUR).toISOString();
    const refused = await world
      .as('ann', 'post', REQUESTS)
      .send({ changes: [adding('a')], at })
      .expect(409);
    expect(refused.body.code).toBe('due_disabled');
    await world.ask('ann', 'a').expect(201);
    expect((await session()).acceptsTimes).toBe(false);
    await world.flags.close();
    world = await startWorld();
    expect((await session()).acceptsTimes).toBe(true);
  });
});

describe('a request with a time and approvals', () => {
  const isOn = async (flags: Flags, project: Project) =>
    (await flags.getFlag(production(project))).environments.find(({ name }) => name === 'production')?.enabled;
  const percentage = async () =>
    (await world.as('ann', 'get', '/api/admin/rollouts').expect(200)).body.rollouts[0]?.percentage;

  it('starts a rollout and switches a second flag on in one commit, and one undo undoes both', async () => {
    let ahead = 0;
    world = await startWorld(undefined, { now: () => new Date(Date.now() + ahead) });
    await world.flags.disable(production('b'));
    const changes = [
      {
        op: 'startRollout',
        ref: world.refs.a,
        input: { steps: [{ percentage: 25, hold: HOUR }, { percentage: 100 }] },
      },
      { op: 'enable', ref: production('b') },
    ];
    const at = new Date(Date.now() + HOUR / 2).toISOString();
    const made = await world.as('ann', 'post', REQUESTS).send({ changes, at, reason: 'Launch' }).expect(201);
    const { id } = made.body;
    expect(made.body).toMatchObject({ state: 'open', at, required: 1, appliedBy: { name: 'Ann' } });
    await world.decide('bea', id, 'approve');
    expect(await percentage()).toBeUndefined();
    ahead = HOUR / 2 + 1000;
    await world.flags.runDue();
    const { body } = await world.as('ann', 'get', `${REQUESTS}/${id}`).expect(200);
    expect(body).toMatchObject({ state: 'applied', changeSet: expect.any(String), lateBy: expect.any(Number) });
    const set = await world.as('ann', 'get', `/api/admin/changes/${body.changeSet}`).expect(200);
    expect(set.body).toMatchObject({ actor: 'Ann', reason: 'Launch' });
    expect(set.body.events.map(({ type }: { readonly type: string }) => type)).toEqual(
      expect.arrayContaining(['rollout-started', 'feature-strategy-update', 'feature-environment-enabled']),
    );
    expect([await percentage(), await isOn(world.flags, 'b')]).toEqual([25, true]);
    await world
      .as('ann', 'post', `/api/admin/changes/${body.changeSet}/undo`)
      .set('x-bypass-approval', 'Urgent')
      .expect(200);
    expect([await percentage(), await isOn(world.flags, 'b')]).toEqual([undefined, false]);
    const restored = await world.as(
      'ann',
      'get',
      '/api/admin/projects/a/features/flag-a/environments/production/strategies',
    );
    expect(restored.body).toMatchObject([{ parameters: { rollout: 5 } }]);
  });
});
