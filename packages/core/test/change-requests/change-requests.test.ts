import { randomUUID } from 'node:crypto';
import type { Flags, FlagsOptions } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';
import { DAY, HOUR, type SettableClock, settableClock } from '../settable-clock.js';
import * as world from './protected.js';
import { ADA, ALAN, ENABLE, GRACE, LAUNCH, POLICY, type Requested, TWO } from './protected.js';

const MISSING = { changeRequest: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7aff' };

onEveryStorage((start, share) => {
  let clock: SettableClock;
  let flags: Flags<string>;

  beforeEach(() => {
    clock = settableClock();
  });

  async function protect(policy = POLICY, options: Omit<FlagsOptions, 'storage'> = {}): Promise<void> {
    flags = await start({ now: clock.now, due: { run: 'elsewhere' }, ...options });
    await world.protect(flags, policy);
  }

  const request = () => world.request(flags);
  const approve = (ref: Requested, by: Parameters<typeof world.approve>[2] = GRACE) => world.approve(flags, ref, by);
  const isOn = () => world.isOn(flags);

  describe('a change request', () => {
    it('waits, is approved by another person, and is applied as one set that names it', async () => {
      await protect();
      const made = await flags.as(ADA).changeRequests.create([ENABLE], LAUNCH);
      expect(made).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        state: 'open',
        changes: [ENABLE],
        author: ADA,
        appliedBy: null,
        createdAt: clock.text(),
        reason: 'Launch',
        at: null,
        notAfter: null,
        expiresAt: clock.text(14 * DAY),
        ifUnchanged: false,
        required: 1,
        approvals: [],
        approval: { required: 1, environments: ['production'] },
        effect: expect.stringMatching(/^[\w-]{43}$/),
        projects: ['default'],
        flags: [CHECKOUT],
        environments: ['production'],
        endedAt: null,
        lateBy: null,
        changeSet: null,
        failure: null,
        revision: 1,
      });
      const ref = { changeRequest: made.id };
      const approved = await world.approve(flags, ref, GRACE, { reason: 'Looks right' });
      expect(approved).toMatchObject({
        state: 'approved',
        approvals: [{ actor: GRACE, at: clock.text(), reason: 'Looks right', current: true }],
      });
      expect(await isOn()).toBe(false);
      const applied = await flags.as(ADA).changeRequests.apply(ref);
      expect(applied).toMatchObject({ state: 'applied', changeSet: expect.any(String), endedAt: clock.text() });
      expect(await isOn()).toBe(true);
      const { events } = await flags.history.get({ changeSet: applied.changeSet ?? '' });
      expect(events.map(({ type, actor, reason, origin }) => [type, actor, reason, origin])).toEqual([
        ['environment-enabled', 'Ada', 'Launch', `change-request/${made.id}`],
        ['change-request-ended', 'Ada', 'Launch', `change-request/${made.id}`],
      ]);
      // Events name the flags and people, and have no ids of people.
      const about = {
        author: 'Ada',
        ops: ['enable'],
        flags: [CHECKOUT],
        flagCount: 1,
        environments: ['production'],
        at: null,
      };
      const told = { id: made.id, ...about };
      const { items } = await flags.events.list({ limit: 10 });
      expect(JSON.stringify(items)).not.toContain('u-2');
      expect(
        items.filter(({ type }) => type.startsWith('change-request-')).map(({ type, data }) => [type, data]),
      ).toEqual([
        [
          'change-request-ended',
          {
            ...{ ...told, state: 'applied', endedAt: clock.text(), lateBy: null },
            ...{ changeSet: applied.changeSet, failure: null },
          },
        ],
        ['change-request-decided', { ...told, state: 'approved', decision: 'approved' }],
        ['change-request-created', { ...told, state: 'open' }],
      ]);
    });

    it('that needs no approval is approved at once', async () => {
      await protect();
      const changes = [{ op: 'enable', ref: DEVELOPMENT }] as const;
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      const { state, required, id } = await flags.as(ADA).changeRequests.create(changes, LAUNCH);
      expect([state, required]).toEqual(['approved', 0]);
      // An approval that nobody needs changes nothing.
      expect(await approve({ changeRequest: id })).toMatchObject({
        ...{ state: 'approved', required: 0, approval: null, approvals: [], revision: 1 },
        ...{ environments: ['development'], projects: ['default'] },
      });
      expect((await flags.changeRequests.apply({ changeRequest: id })).state).toBe('applied');
    });

    it('is refused before it has its approvals', async () => {
      await protect();
      const ref = await request();
      const { message, details } = await expectRefusal(flags, 'approval_required', () =>
        flags.changeRequests.apply(ref),
      );
      expect(details).toMatchObject([{ path: '/environments/production/default/checkout' }]);
      expect(message).toBe(
        `The change request ${ref.changeRequest} needs 1 approval in production, and has 0; ask for approval.`,
      );
      expect(await isOn()).toBe(false);
    });

    it('is not approved by its author, in another session or under another name, nor by a token', async () => {
      await protect();
      const ref = await request();
      await expectRefusal(flags, 'own_change_request', () => approve(ref, ADA));
      await expectRefusal(flags, 'own_change_request', () => approve(ref, { name: 'Ada L.', id: 'u-1' }));
      // Without ids, names are compared in one Unicode form and case.
      await expectRefusal(flags, 'own_change_request', () => approve(ref, ' ＡDA '));
      const { token } = await flags.tokens.create({ name: 'ci', kind: 'admin' });
      const { effect } = await flags.changeRequests.get(ref);
      const byToken = flags.as(token).changeRequests;
      const { message } = await expectRefusal(flags, 'forbidden', () => byToken.approve(ref, { effect: `${effect}` }));
      expect(message).toContain('approve change requests');
      await expectRefusal(flags, 'forbidden', () => byToken.reject(ref));
      await expectRefusal(flags, 'forbidden', () => flags.as(token).approvalPolicy.set({ environments: {} }));
      expect((await approve(ref, { name: 'Ada', id: 'u-9' })).state).toBe('approved');
    });

    it('counts one person once', async () => {
      await protect(TWO);
      const ref = await request();
      await approve(ref);
      const again = await approve(ref, { name: 'Grace Hopper', id: 'u-2' });
      expect(again).toMatchObject({ state: 'open', required: 2, approvals: [{ actor: GRACE }] });
      const early = await expectRefusal(flags, 'approval_required', () => flags.changeRequests.apply(ref));
      expect(early.message).toBe(
        `The change request ${ref.changeRequest} needs 2 approvals in production, and has 1; ask for approval.`,
      );
      expect((await approve(ref, ALAN)).state).toBe('approved');
      expect((await flags.changeRequests.apply(ref)).state).toBe('applied');
      const late = await expectRefusal(flags, 'change_request_not_open', () =>
        flags.as(ALAN).changeRequests.reject(ref),
      );
      expect(late.message).toContain('is applied, so it cannot be changed; undo its change set instead.');
    });

    it('needs the approvals of the policy when it is applied', async () => {
      await protect();
      const ref = await request();
      await approve(ref);
      await flags.approvalPolicy.set(TWO);
      await expectRefusal(flags, 'approval_required', () => flags.changeRequests.apply(ref));
      expect((await flags.changeRequests.get(ref)).required).toBe(2);
    });

    it('is rejected by somebody else, and withdrawn by anybody; then it cannot be changed', async () => {
      await protect();
      const rejected = await request();
      await expectRefusal(flags, 'own_change_request', () => flags.as(ADA).changeRequests.reject(rejected));
      const closed = await flags.as(GRACE).changeRequests.reject(rejected, { reason: 'Not on a Friday' });
      expect(closed).toMatchObject({ state: 'rejected', endedAt: clock.text() });
      const { effect } = closed;
      const late = await expectRefusal(flags, 'change_request_not_open', () =>
        flags.as(ALAN).changeRequests.approve(rejected, { effect: `${effect}` }),
      );
      for (const end of ['reject', 'withdraw'] as const) {
        await expectRefusal(flags, 'change_request_not_open', () => flags.as(GRACE).changeRequests[end](rejected));
      }
      expect(late.message).toContain('is rejected, so it cannot be changed; make a new one.');
      await expectRefusal(flags, 'change_request_not_open', () => flags.changeRequests.apply(rejected));
      const withdrawn = await request();
      expect((await flags.as(ALAN).changeRequests.withdraw(withdrawn)).state).toBe('withdrawn');
      await expectRefusal(flags, 'change_request_not_open', () => flags.as(GRACE).changeRequests.reject(withdrawn));
      const { items } = await flags.events.list({ type: 'change-request-ended' });
      expect(items.map(({ actor, reason, data }) => [actor, reason, (data as { state: string }).state])).toEqual([
        ['Alan', null, 'withdrawn'],
        ['Grace', 'Not on a Friday', 'rejected'],
      ]);
    });

    it('makes other ids than a change set with the same id', async () => {
      await protect({ environments: {} } as never);
      const id = randomUUID();
      const first = await flags.addStrategy(PRODUCTION, { name: 'default' }, { id });
      const change = { op: 'addStrategy', ref: PRODUCTION, input: { name: 'default' } } as const;
      await flags.changeRequests.create([change], { id });
      await flags.changeRequests.apply({ changeRequest: id });
      const { environments } = await flags.getFlag(CHECKOUT);
      const ids = environments.flatMap(({ strategies }) => strategies.map((strategy) => strategy.id));
      expect(ids).toContain(first.id);
      expect(new Set(ids).size).toBe(3);
    });

    it('is found by its id in capital letters', async () => {
      await protect();
      const { changeRequest } = await request();
      const capital = { changeRequest: changeRequest.toUpperCase() };
      expect((await flags.changeRequests.get(capital)).id).toBe(changeRequest);
      const copy = await flags.as(ADA).changeRequests.create([ENABLE], { replaces: capital.changeRequest });
      expect((await flags.changeRequests.get({ changeRequest })).state).toBe('withdrawn');
      await flags.as(GRACE).changeRequests.reject({ changeRequest: copy.id.toUpperCase() });
    });

    it('is applied, when due, by a process that accepts no times, and waits for one that has its environment', async () => {
      const open = await share();
      const names = ['development', 'staging', 'production'].map((name) => ({ name, type: name }));
      const due = { run: 'elsewhere' } as const;
      const accepting = await open({ now: clock.now, due, environments: names });
      const serving = await open({ now: clock.now, environments: names });
      const errors: unknown[] = [];
      const onError = (error: unknown) => errors.push(error);
      const other = await open({ now: clock.now, due, onError });
      await world.addCheckout(accepting);
      const ref = { ...PRODUCTION, environment: 'staging' };
      const { id } = await accepting.addStrategy(ref, { name: 'flexibleRollout', parameters: { rollout: '0' } });
      const changes = [
        { op: 'enable', ref },
        { op: 'startRollout', ref: { ...ref, strategy: id }, input: { steps: [{ percentage: 5 }] } },
      ] as const;
      const made = await accepting.changeRequests.create(changes, { at: clock.text(HOUR) });
      const requested = { changeRequest: made.id };
      expect((await serving.changeRequests.get(requested)).effect).toBe(made.effect);
      clock.advance(HOUR);
      for (let round = 0; round < 2; round++) await other.runDue();
      expect(errors).toMatchObject([{ code: 'environment_not_found' }]);
      expect((await accepting.changeRequests.get(requested)).state).toBe('approved');
      await serving.runDue();
      expect(await accepting.changeRequests.get(requested)).toMatchObject({ state: 'applied', failure: null });
    });

    it('expires at its time', async () => {
      await protect();
      const expiresAt = clock.text(2 * DAY);
      const { id } = await flags.as(ADA).changeRequests.create([ENABLE], { ...LAUNCH, expiresAt });
      const ref = { changeRequest: id };
      await approve(ref);
      clock.advance(2 * DAY);
      expect(await flags.changeRequests.get(ref)).toMatchObject({ state: 'expired', endedAt: expiresAt });
      const { message } = await expectRefusal(flags, 'change_request_not_open', () => flags.changeRequests.apply(ref));
      expect(message).toContain('is expired, so it cannot be changed; make a new one.');
      await flags.runDue();
      const [ended] = (await flags.events.list({ type: 'change-request-ended' })).items;
      expect(ended?.data).toMatchObject({ id, state: 'expired', endedAt: expiresAt, changeSet: null });
      expect(ended?.before).toEqual({ id, state: 'approved', at: null });
      expect((await flags.changeRequests.list({ state: 'expired' })).items.map((one) => one.id)).toEqual([id]);
    });

    it('keeps its author, changes and time under a repeated id', async () => {
      await protect();
      const id = randomUUID();
      const make = (actor = ADA, changes = [ENABLE]) =>
        flags.as(actor).changeRequests.create(changes, { ...LAUNCH, id: id.toUpperCase() });
      const made = await make();
      expect(made.id).toBe(id);
      await approve({ changeRequest: id });
      expect((await make()).state).toBe('approved');
      expect((await make({ name: 'Ada L.', id: 'u-1' })).id).toBe(id);
      await expectRefusal(flags, 'id_taken', () => make(GRACE));
      await expectRefusal(flags, 'id_taken', () => make(ADA, [ENABLE, ENABLE]));
    });

    it('fixes new ids when it is made', async () => {
      await protect();
      const add = { op: 'addStrategy', ref: PRODUCTION, input: { name: 'default' } } as const;
      const { id } = await flags.as(ADA).changeRequests.create([add], LAUNCH);
      const { effect } = await flags.changeRequests.get({ changeRequest: id });
      await flags.updateFlag(CHECKOUT, { stale: true });
      expect((await flags.changeRequests.get({ changeRequest: id })).effect).toBe(effect);
      expect((await flags.changeRequests.apply({ changeRequest: id })).state).toBe('applied');
    });

    it('is refused without content, with an unknown operation, and with wrong times', async () => {
      await protect();
      const changes = [ENABLE];
      for (const wrong of [[], {}, null, undefined, 'x', [null]]) {
        await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.create(wrong as never, LAUNCH));
      }
      await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.create(changes, 'x' as never));
      const bypass = { bypassApproval: 'INC-42' } as never;
      await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.create(changes, bypass));
      const unknown = [{ op: 'createToken', input: {} }] as never;
      await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.create(unknown, LAUNCH));
      for (const expiresAt of [clock.text(), clock.text(91 * DAY), '2026-03-02T12:00:00']) {
        const { details } = await expectRefusal(flags, 'invalid_input', () =>
          flags.changeRequests.create(changes, { ...LAUNCH, expiresAt }),
        );
        expect(details[0]?.path).toBe('/expiresAt');
      }
      await expectRefusal(flags, 'change_request_not_found', () => flags.changeRequests.get(MISSING));
      await expectRefusal(flags, 'change_request_not_found', () => flags.changeRequests.apply(MISSING));
      const { details } = await expectRefusal(flags, 'invalid_input', () =>
        flags.changeRequests.get({ changeRequest: 7 } as never),
      );
      expect(details).toEqual([{ message: 'must name a change request, as a string', path: '/changeRequest' }]);
    });

    it('of several projects names them in its events', async () => {
      await protect();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'basket' });
      const basket = { project: 'shop', flag: 'basket', environment: 'production' };
      await flags.addStrategy(basket, { name: 'default' });
      const changes = [ENABLE, { op: 'enable', ref: basket }] as const;
      const { id, projects } = await flags.as(ADA).changeRequests.create(changes, LAUNCH);
      expect(projects).toEqual(['default', 'shop']);
      await approve({ changeRequest: id });
      await flags.changeRequests.withdraw({ changeRequest: id });
      const { items } = await flags.events.list({ limit: 3 });
      expect(items.map(({ data, before }) => [data, before])).toMatchObject([
        [
          { id, state: 'withdrawn', projects },
          { id, state: 'approved' },
        ],
        [
          { id, state: 'approved', projects },
          { id, state: 'open' },
        ],
        [{ id, state: 'open', projects }, null],
      ]);
    });

    it('is listed by state, project and flag', async () => {
      await protect();
      const { changeRequest } = await request();
      const list = async (query: Parameters<Flags['changeRequests']['list']>[0]) =>
        (await flags.changeRequests.list(query)).items.map(({ id }) => id);
      expect(await list({})).toEqual([changeRequest]);
      expect(await list({ state: 'open', project: 'default', flag: 'checkout' })).toEqual([changeRequest]);
      expect(await list({ state: 'approved' })).toEqual([]);
      expect(await list({ project: 'shop' })).toEqual([]);
      expect(await list({ flag: 'other' })).toEqual([]);
      const [listed] = (await flags.changeRequests.list()).items;
      for (const hidden of ['changes', 'effect', 'approval']) expect(listed).not.toHaveProperty(hidden);
      await expectRefusal(flags, 'invalid_input', () => flags.changeRequests.list({ state: 'unknown' } as never));
    });

    it('is deleted 90 days after its end; its events remain', async () => {
      await protect();
      const ref = await request();
      await flags.changeRequests.withdraw(ref);
      await flags.runDue();
      clock.advance(90 * DAY + 1);
      await flags.runDue();
      await expectRefusal(flags, 'change_request_not_found', () => flags.changeRequests.get(ref));
      expect((await flags.events.list({ type: 'change-request-ended' })).items).toHaveLength(1);
    });

    it('cannot be undone by itself, but the set that applied it can', async () => {
      await protect();
      const ref = await request();
      await approve(ref);
      const { changeSet } = await flags.changeRequests.apply(ref);
      const [made] = (await flags.events.list({ type: 'change-request-created' })).items;
      const { message } = await refusalOf(flags.history.undo({ changeSet: made?.changeSet ?? '' }));
      expect(message).toContain('change requests, which cannot be undone; withdraw the request');
      // Switching off is free.
      await flags.history.undo({ changeSet: changeSet ?? '' });
      expect(await isOn()).toBe(false);
    });

    it('is applied once by two nodes, and a call with its id can be repeated', async () => {
      const open = await share();
      flags = await open({ now: clock.now });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await flags.addStrategy(PRODUCTION, { name: 'default' });
      await flags.approvalPolicy.set(POLICY);
      const other = await open({ now: clock.now });
      const ref = await request();
      await approve(ref);
      const id = randomUUID();
      const settled = await Promise.allSettled(
        [flags, other].map((node) => node.as(ADA).changeRequests.apply(ref, {}, { id: randomUUID() })),
      );
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const next = await flags.as(ADA).changeRequests.create([{ op: 'archiveFlag', ref: CHECKOUT }], LAUNCH);
      await approve({ changeRequest: next.id });
      const first = await flags.as(ADA).changeRequests.apply({ changeRequest: next.id }, {}, { id });
      expect(first.changeSet).toBe(id);
      expect(await other.as(ADA).changeRequests.apply({ changeRequest: next.id }, {}, { id })).toEqual(first);
      await expectRefusal(flags, 'change_request_not_open', () =>
        flags.changeRequests.apply({ changeRequest: next.id }),
      );
    });
  });

  describe('an approval does not count', () => {
    it('when clients of a protected environment would see another effect', async () => {
      await protect();
      const ref = await request();
      await approve(ref);
      await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '1' } });
      expect((await flags.changeRequests.get(ref)).approvals).toMatchObject([{ current: false }]);
      const { message } = await expectLapsed(ref);
      expect(message).toContain('needs 1 approval in production, and has 0 of what it would do now');
      expect(await isOn()).toBe(false);
      const again = await approve(ref);
      expect(again).toMatchObject({ state: 'approved', approvals: [{ actor: GRACE, current: true }] });
      expect((await flags.changeRequests.apply(ref)).state).toBe('applied');
    });

    it('when a segment that the flag uses has other values', async () => {
      await protect();
      const constraint = (value: string) => ({ contextName: 'userId', operator: 'IN' as const, values: [value] });
      const segment = await flags.segments.create({ name: 'vip', constraints: [constraint('1')] });
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [segment.id] });
      const ref = await request();
      await approve(ref);
      await flags.segments.update({ segment: segment.id }, { name: 'vip', constraints: [constraint('2')] });
      await expectLapsed(ref);
    });

    it('when an environment of the set becomes a protected one', async () => {
      await protect();
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      const changes = [ENABLE, { op: 'enable', ref: DEVELOPMENT } as const];
      const { id } = await flags.as(ADA).changeRequests.create(changes, LAUNCH);
      await approve({ changeRequest: id });
      await flags.approvalPolicy.set({ environments: { ...POLICY.environments, development: { required: 1 } } });
      await expectLapsed({ changeRequest: id });
      const again = await approve({ changeRequest: id });
      expect(again.approval).toEqual({ required: 1, environments: ['development', 'production'] });
    });

    it('not by other edits: of metadata, other environments, other flags and revisions', async () => {
      await protect();
      const ref = await request();
      await approve(ref);
      await flags.updateFlag(CHECKOUT, { description: 'Text', stale: true, labels: ['x'] });
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      await flags.enable(DEVELOPMENT);
      await flags.createFlag(DEFAULT, { name: 'other' });
      expect((await flags.changeRequests.get(ref)).approvals).toMatchObject([{ current: true }]);
      expect((await flags.changeRequests.apply(ref)).state).toBe('applied');
    });

    it('not by edits that come and go', async () => {
      await protect();
      const ref = await request();
      await approve(ref);
      const added = await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '1' } });
      await flags.removeStrategy({ ...PRODUCTION, strategy: added.id });
      expect((await flags.changeRequests.apply(ref)).state).toBe('applied');
    });

    async function expectLapsed(ref: Requested): Promise<{ readonly message: string }> {
      await expectRefusal(flags, 'approval_required', () => flags.changeRequests.apply(ref));
      return refusalOf(flags.changeRequests.apply(ref));
    }
  });
});
