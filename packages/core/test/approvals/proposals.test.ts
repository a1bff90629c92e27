import { randomUUID } from 'node:crypto';
import type { Flags, FlagsOptions } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';
import { addGradual, percentage, round, STEPS } from '../rollouts/start.js';
import { DAY, HOUR, MINUTE, type SettableClock, settableClock } from '../settable-clock.js';

const POLICY = { environments: { production: { required: 1 } } };
const TWO = { environments: { production: { required: 2 } } };
const ENABLE = { op: 'enable', ref: PRODUCTION } as const;
const LAUNCH = { reason: 'Launch' };
const ADA = { name: 'Ada', id: 'u-1' };
const GRACE = { name: 'Grace', id: 'u-2' };
const ALAN = { name: 'Alan', id: 'u-3' };
const MISSING = { proposal: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7aff' };

onEveryStorage((start, share) => {
  let clock: SettableClock;
  let flags: Flags<string>;

  beforeEach(() => {
    clock = settableClock();
  });

  /** A flag that is off in production, where changes need approval. */
  async function protect(policy = POLICY, options: Omit<FlagsOptions, 'storage'> = {}): Promise<void> {
    flags = await start({ now: clock.now, runSchedules: 'elsewhere', ...options });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default' });
    await flags.setApprovalPolicy(policy);
  }

  async function propose(): Promise<{ readonly proposal: string }> {
    const { id } = await flags.as(ADA).createProposal({ changes: [ENABLE] }, LAUNCH);
    return { proposal: id };
  }

  async function proposeRollout(): Promise<{ readonly proposal: string }> {
    flags = await start({ now: clock.now, runSchedules: 'elsewhere' });
    const ref = await addGradual(flags);
    await flags.setApprovalPolicy(POLICY);
    const { id } = await flags.as(ADA).createProposal({ rollout: { ref, ...STEPS } }, LAUNCH);
    return { proposal: id };
  }

  async function isOn(): Promise<boolean> {
    const { environments } = await flags.getFlag(CHECKOUT);
    return environments.some(({ name, enabled }) => name === 'production' && enabled);
  }

  const stateOf = async (ref: { readonly proposal: string }) => (await flags.getProposal(ref)).state;

  describe('a proposal', () => {
    it('waits, is approved by another person, and is applied as one set that names it', async () => {
      await protect();
      const made = await flags.as(ADA).createProposal({ changes: [ENABLE] }, LAUNCH);
      expect(made).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        state: 'open',
        changes: [ENABLE],
        rollout: null,
        author: ADA,
        createdAt: clock.text(),
        reason: 'Launch',
        required: 1,
        approvals: [],
        projects: ['default'],
        flags: [CHECKOUT],
        environments: ['production'],
        expiresAt: clock.text(14 * DAY),
        schedule: null,
        changeSet: null,
        endedAt: null,
        revision: 1,
      });
      const ref = { proposal: made.id };
      const approved = await flags.as(GRACE).approveProposal(ref, { reason: 'Looks right' });
      expect(approved).toMatchObject({
        state: 'approved',
        approvals: [{ actor: GRACE, at: clock.text(), reason: 'Looks right', current: true }],
      });
      expect(await isOn()).toBe(false);
      const applied = await flags.as(ADA).applyProposal(ref);
      expect(applied).toMatchObject({ state: 'applied', changeSet: expect.any(String), endedAt: clock.text() });
      expect(await isOn()).toBe(true);
      const { events } = await flags.getChangeSet({ changeSet: applied.changeSet ?? '' });
      expect(events.map(({ type, actor, reason, origin }) => [type, actor, reason, origin])).toEqual([
        ['environment-enabled', 'Ada', 'Launch', `proposal/${made.id}`],
        ['proposal-ended', 'Ada', 'Launch', `proposal/${made.id}`],
      ]);
      // Events have no ids of people.
      const { items } = await flags.listEvents({ limit: 10 });
      expect(JSON.stringify(items)).not.toContain('u-2');
      expect(items.filter(({ type }) => type.startsWith('proposal-')).map(({ type, data }) => [type, data])).toEqual([
        ['proposal-ended', { id: made.id, state: 'applied', endedAt: clock.text(), changeSet: applied.changeSet }],
        ['proposal-decided', { id: made.id, state: 'approved' }],
        ['proposal-created', { id: made.id, state: 'open' }],
      ]);
    });

    it('that needs no approval is approved at once', async () => {
      await protect();
      const changes = [{ op: 'enable', ref: DEVELOPMENT }] as const;
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      const { state, required, id } = await flags.as(ADA).createProposal({ changes }, LAUNCH);
      expect([state, required]).toEqual(['approved', 0]);
      expect((await flags.applyProposal({ proposal: id })).state).toBe('applied');
    });

    it('is refused before it has its approvals', async () => {
      await protect();
      const ref = await propose();
      await expectRefusal(flags, 'approval_required', () => flags.applyProposal(ref));
      expect(await isOn()).toBe(false);
    });

    it('is not approved by its author, in another session or under another name, nor by a token', async () => {
      await protect();
      const ref = await propose();
      await expectRefusal(flags, 'own_proposal', () => flags.as(ADA).approveProposal(ref));
      await expectRefusal(flags, 'own_proposal', () => flags.as({ name: 'Ada L.', id: 'u-1' }).approveProposal(ref));
      // Without ids, names are compared in one Unicode form and case.
      await expectRefusal(flags, 'own_proposal', () => flags.as(' ＡDA ').approveProposal(ref));
      const { token } = await flags.createToken({ name: 'ci', kind: 'admin' });
      await expectRefusal(flags, 'forbidden', () => flags.as(token).approveProposal(ref));
      await expectRefusal(flags, 'forbidden', () => flags.as(token).rejectProposal(ref));
      await expectRefusal(flags, 'forbidden', () => flags.as(token).setApprovalPolicy({ environments: {} }));
      expect((await flags.as({ name: 'Ada', id: 'u-9' }).approveProposal(ref)).state).toBe('approved');
    });

    it('counts one person once', async () => {
      await protect(TWO);
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      const again = await flags.as({ name: 'Grace Hopper', id: 'u-2' }).approveProposal(ref);
      expect(again).toMatchObject({ state: 'open', required: 2, approvals: [{ actor: GRACE }] });
      await expectRefusal(flags, 'approval_required', () => flags.applyProposal(ref));
      expect((await flags.as(ALAN).approveProposal(ref)).state).toBe('approved');
      expect((await flags.applyProposal(ref)).state).toBe('applied');
    });

    it('needs the approvals of the policy when it is applied', async () => {
      await protect();
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      await flags.setApprovalPolicy(TWO);
      await expectRefusal(flags, 'approval_required', () => flags.applyProposal(ref));
      expect((await flags.getProposal(ref)).required).toBe(2);
    });

    it('that is rejected or withdrawn is not applied, and a repeated call changes nothing', async () => {
      await protect();
      const rejected = await propose();
      const closed = await flags.as(GRACE).rejectProposal(rejected, { reason: 'Not on a Friday' });
      expect(closed).toMatchObject({ state: 'rejected', endedAt: clock.text() });
      expect(await flags.as(GRACE).rejectProposal(rejected)).toEqual(closed);
      await expectRefusal(flags, 'proposal_not_open', () => flags.as(ALAN).approveProposal(rejected));
      await expectRefusal(flags, 'proposal_not_open', () => flags.applyProposal(rejected));
      const withdrawn = await propose();
      expect((await flags.as(ADA).withdrawProposal(withdrawn)).state).toBe('withdrawn');
      await expectRefusal(flags, 'proposal_not_open', () => flags.as(GRACE).rejectProposal(withdrawn));
      const { items } = await flags.listEvents({ type: 'proposal-ended' });
      expect(items.map(({ actor, reason, data }) => [actor, reason, (data as { state: string }).state])).toEqual([
        ['Ada', null, 'withdrawn'],
        ['Grace', 'Not on a Friday', 'rejected'],
      ]);
    });

    it('lapses at its time', async () => {
      await protect();
      const expiresAt = clock.text(2 * DAY);
      const { id } = await flags.as(ADA).createProposal({ changes: [ENABLE] }, { ...LAUNCH, expiresAt });
      const ref = { proposal: id };
      await flags.as(GRACE).approveProposal(ref);
      clock.advance(2 * DAY);
      expect(await stateOf(ref)).toBe('lapsed');
      await expectRefusal(flags, 'proposal_lapsed', () => flags.applyProposal(ref));
      await flags.runDue();
      const [ended] = (await flags.listEvents({ type: 'proposal-ended' })).items;
      expect(ended?.data).toEqual({ id, state: 'lapsed', endedAt: expiresAt, changeSet: null });
      expect((await flags.listProposals({ state: 'lapsed' })).items.map((one) => one.id)).toEqual([id]);
    });

    it('keeps its author, changes and time under a repeated id', async () => {
      await protect();
      const id = randomUUID();
      const make = (actor = ADA, changes = [ENABLE]) =>
        flags.as(actor).createProposal({ changes }, { ...LAUNCH, id: id.toUpperCase() });
      const made = await make();
      expect(made.id).toBe(id);
      await flags.as(GRACE).approveProposal({ proposal: id });
      expect((await make()).state).toBe('approved');
      expect((await make({ name: 'Ada L.', id: 'u-1' })).id).toBe(id);
      await expectRefusal(flags, 'id_taken', () => make(GRACE));
      await expectRefusal(flags, 'id_taken', () => make(ADA, [ENABLE, ENABLE]));
    });

    it('fixes new ids when it is made', async () => {
      await protect();
      const add = { op: 'addStrategy', ref: PRODUCTION, input: { name: 'default' } } as const;
      const { id } = await flags.as(ADA).createProposal({ changes: [add] }, LAUNCH);
      const { documents } = await flags.plan([add]);
      expect(documents).toHaveLength(1);
      const applied = await flags.applyProposal({ proposal: id });
      expect(applied.state).toBe('applied');
    });

    it('is refused without a reason, without content, and with an unknown operation', async () => {
      await protect();
      const changes = [ENABLE];
      const rollout = { ref: { ...PRODUCTION, strategy: 'x' }, steps: [{ rollout: 5 }] };
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes }, {} as never));
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes }, { reason: ' ' }));
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes: [] }, LAUNCH));
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({} as never, LAUNCH));
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal(null as never, LAUNCH));
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes, rollout } as never, LAUNCH));
      await expectRefusal(flags, 'strategy_not_found', () => flags.createProposal({ rollout }, LAUNCH));
      const unknown = [{ op: 'createToken', input: {} }] as never;
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes: unknown }, LAUNCH));
      for (const expiresAt of [clock.text(), clock.text(91 * DAY), '2026-03-02T12:00:00']) {
        await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes }, { ...LAUNCH, expiresAt }));
      }
      await expectRefusal(flags, 'proposal_not_found', () => flags.getProposal(MISSING));
      await expectRefusal(flags, 'proposal_not_found', () => flags.applyProposal(MISSING));
    });

    it('is listed by state, project and flag', async () => {
      await protect();
      const { proposal } = await propose();
      const list = async (query: Parameters<Flags['listProposals']>[0]) =>
        (await flags.listProposals(query)).items.map(({ id }) => id);
      expect(await list({})).toEqual([proposal]);
      expect(await list({ state: 'open', project: 'default', flag: 'checkout' })).toEqual([proposal]);
      expect(await list({ state: 'approved' })).toEqual([]);
      expect(await list({ project: 'shop' })).toEqual([]);
      expect(await list({ flag: 'other' })).toEqual([]);
      const [listed] = (await flags.listProposals()).items;
      expect(listed).not.toHaveProperty('changes');
      await expectRefusal(flags, 'invalid_input', () => flags.listProposals({ state: 'unknown' } as never));
    });

    it('is deleted 90 days after its end; its events remain', async () => {
      await protect();
      const ref = await propose();
      await flags.withdrawProposal(ref);
      await flags.runDue();
      clock.advance(90 * DAY + 1);
      await flags.runDue();
      await expectRefusal(flags, 'proposal_not_found', () => flags.getProposal(ref));
      expect((await flags.listEvents({ type: 'proposal-ended' })).items).toHaveLength(1);
    });

    it('cannot be undone by itself, but the set that applied it can', async () => {
      await protect();
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      const { changeSet } = await flags.applyProposal(ref);
      const [made] = (await flags.listEvents({ type: 'proposal-created' })).items;
      const { message } = await refusalOf(flags.undoChangeSet({ changeSet: made?.changeSet ?? '' }));
      expect(message).toContain('proposals, which cannot be undone; withdraw the proposal');
      // Switching off is free.
      await flags.undoChangeSet({ changeSet: changeSet ?? '' });
      expect(await isOn()).toBe(false);
    });

    it('is applied once by two nodes, and a call with its id can be repeated', async () => {
      const open = await share();
      flags = await open({ now: clock.now });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await flags.addStrategy(PRODUCTION, { name: 'default' });
      await flags.setApprovalPolicy(POLICY);
      const other = await open({ now: clock.now });
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      const id = randomUUID();
      const settled = await Promise.allSettled(
        [flags, other].map((node) => node.as(ADA).applyProposal(ref, {}, { id: randomUUID() })),
      );
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const next = await flags.as(ADA).createProposal({ changes: [{ op: 'archiveFlag', ref: CHECKOUT }] }, LAUNCH);
      await flags.as(GRACE).approveProposal({ proposal: next.id });
      const first = await flags.as(ADA).applyProposal({ proposal: next.id }, {}, { id });
      expect(first.changeSet).toBe(id);
      expect(await other.as(ADA).applyProposal({ proposal: next.id }, {}, { id })).toEqual(first);
      await expectRefusal(flags, 'proposal_not_open', () => flags.applyProposal({ proposal: next.id }));
    });
  });

  describe('approvals lapse', () => {
    it('when clients of a protected environment would see another effect', async () => {
      await protect();
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '1' } });
      expect((await flags.getProposal(ref)).approvals).toMatchObject([{ current: false }]);
      const { message } = await expectLapsed(ref);
      expect(message).toContain('would now do something else than what was approved');
      expect(await isOn()).toBe(false);
      const again = await flags.as(GRACE).approveProposal(ref);
      expect(again).toMatchObject({ state: 'approved', approvals: [{ actor: GRACE, current: true }] });
      expect((await flags.applyProposal(ref)).state).toBe('applied');
    });

    it('when a segment that the flag uses has other values', async () => {
      await protect();
      const constraint = (value: string) => ({ contextName: 'userId', operator: 'IN' as const, values: [value] });
      const segment = await flags.createSegment({ name: 'vip', constraints: [constraint('1')] });
      await flags.addStrategy(PRODUCTION, { name: 'default', segments: [segment.id] });
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      await flags.updateSegment({ segment: segment.id }, { name: 'vip', constraints: [constraint('2')] });
      await expectLapsed(ref);
    });

    it('when an environment of the set becomes a protected one', async () => {
      await protect();
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      const changes = [ENABLE, { op: 'enable', ref: DEVELOPMENT } as const];
      const { id } = await flags.as(ADA).createProposal({ changes }, LAUNCH);
      await flags.as(GRACE).approveProposal({ proposal: id });
      await flags.setApprovalPolicy({ environments: { ...POLICY.environments, development: { required: 1 } } });
      await expectLapsed({ proposal: id });
    });

    it('not by other edits: of metadata, other environments, other flags and revisions', async () => {
      await protect();
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      await flags.updateFlag(CHECKOUT, { description: 'Text', stale: true, labels: ['x'] });
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      await flags.enable(DEVELOPMENT);
      await flags.createFlag(DEFAULT, { name: 'other' });
      expect((await flags.getProposal(ref)).approvals).toMatchObject([{ current: true }]);
      expect((await flags.applyProposal(ref)).state).toBe('applied');
    });

    it('not by edits that come and go', async () => {
      await protect();
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      const added = await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '1' } });
      await flags.removeStrategy({ ...PRODUCTION, strategy: added.id });
      expect((await flags.applyProposal(ref)).state).toBe('applied');
    });

    async function expectLapsed(ref: { readonly proposal: string }): Promise<{ readonly message: string }> {
      await expectRefusal(flags, 'proposal_lapsed', () => flags.applyProposal(ref));
      return refusalOf(flags.applyProposal(ref));
    }
  });

  describe('a proposal at a time', () => {
    const at = () => clock.text(HOUR);

    it('is applied when it is due, with its approvals', async () => {
      await protect();
      const ref = await propose();
      await expectRefusal(flags, 'approval_required', () => flags.applyProposal(ref, { at: at() }));
      await flags.as(GRACE).approveProposal(ref);
      const scheduled = await flags.as(ADA).applyProposal(ref, { at: at() });
      expect(scheduled).toMatchObject({ state: 'scheduled', schedule: expect.any(String) });
      const schedule = { schedule: scheduled.schedule ?? '' };
      expect(await flags.getSchedule(schedule)).toMatchObject({ proposal: ref.proposal, reason: 'Launch' });
      await expectRefusal(flags, 'proposal_not_open', () => flags.applyProposal(ref));
      clock.advance(HOUR);
      await flags.runDue();
      const { changeSet } = await flags.getSchedule(schedule);
      expect(await flags.getProposal(ref)).toMatchObject({ state: 'applied', changeSet, endedAt: clock.text() });
      expect(await isOn()).toBe(true);
    });

    it('is approved again when its schedule is cancelled', async () => {
      await protect();
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      const { schedule } = await flags.applyProposal(ref, { at: at() });
      await flags.cancelSchedule({ schedule: schedule ?? '' });
      expect(await stateOf(ref)).toBe('approved');
      const again = await flags.applyProposal(ref, { at: at() });
      expect(again.state).toBe('scheduled');
      expect(again.schedule).not.toBe(schedule);
    });

    it('lapses when its schedule fails, because something else would happen, or expires', async () => {
      await protect();
      const failing = await propose();
      await flags.as(GRACE).approveProposal(failing);
      const { schedule } = await flags.applyProposal(failing, { at: at() });
      await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: '1' } });
      clock.advance(HOUR);
      await flags.runDue();
      expect(await flags.getSchedule({ schedule: schedule ?? '' })).toMatchObject({
        state: 'failed',
        failure: { code: 'proposal_lapsed' },
      });
      expect(await stateOf(failing)).toBe('lapsed');
      const expiring = await propose();
      await flags.as(GRACE).approveProposal(expiring);
      await flags.applyProposal(expiring, { at: at() });
      clock.advance(3 * HOUR);
      await flags.runDue();
      expect(await stateOf(expiring)).toBe('lapsed');
      expect(await isOn()).toBe(false);
    });

    it('has its schedule cancelled when it is rejected or withdrawn', async () => {
      await protect();
      for (const end of ['rejectProposal', 'withdrawProposal'] as const) {
        const ref = await propose();
        await flags.as(GRACE).approveProposal(ref);
        const { schedule } = await flags.applyProposal(ref, { at: at() });
        await flags.as(ALAN)[end](ref);
        expect((await flags.getSchedule({ schedule: schedule ?? '' })).state).toBe('cancelled');
      }
    });

    it('is refused where nobody carries schedules out, after it lapses, and for a rollout', async () => {
      await protect(POLICY, { runSchedules: false });
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      await expectRefusal(flags, 'schedules_disabled', () => flags.applyProposal(ref, { at: at() }));
      await expectRefusal(flags, 'invalid_input', () => flags.applyProposal(ref, { notAfter: at() }));
      await expectRefusal(flags, 'invalid_input', () => flags.applyProposal(ref, { at: clock.text(15 * DAY) }));
      const rollout = await proposeRollout();
      await expectRefusal(flags, 'invalid_input', () => flags.applyProposal(rollout, { at: at() }));
    });
  });

  describe('a proposed rollout', () => {
    it('takes all its steps when it was approved', async () => {
      const ref = await proposeRollout();
      await expectRefusal(flags, 'approval_required', () => flags.applyProposal(ref));
      await flags.as(GRACE).approveProposal(ref);
      expect(await flags.as(ADA).applyProposal(ref)).toMatchObject({ state: 'applied', changes: [] });
      const rollout = { rollout: ref.proposal };
      expect(await flags.getRollout(rollout)).toMatchObject({ approval: `proposal/${ref.proposal}`, author: ADA });
      expect(await percentage(flags)).toBe('5');
      for (const [step, expected] of [
        [1, '25'],
        [2, '60'],
      ] as const) {
        clock.advance(DAY);
        expect(await round(flags)).toEqual([['running', step]]);
        expect(await percentage(flags)).toBe(expected);
      }
      // A hold that is cut short was not approved, but with a reason it can be.
      await expectRefusal(flags, 'approval_required', () => flags.advanceRollout(rollout));
      await flags.advanceRollout(rollout, {}, { bypassApproval: 'INC-42' });
      expect(await percentage(flags)).toBe('100');
      await flags.stopRollout(rollout, { rollback: true });
      expect(await percentage(flags)).toBe('1');
    });

    it('needs approval even if its first step changes nothing', async () => {
      flags = await start({ now: clock.now, runSchedules: 'elsewhere' });
      const ref = await addGradual(flags, '5');
      await flags.setApprovalPolicy(POLICY);
      await expectRefusal(flags, 'approval_required', () => flags.startRollout(ref, STEPS));
      const { state } = await flags.createProposal({ rollout: { ref, ...STEPS } }, LAUNCH);
      expect(state).toBe('open');
    });

    it('started with a bypass names it, and takes its steps', async () => {
      flags = await start({ now: clock.now, runSchedules: 'elsewhere' });
      const ref = await addGradual(flags);
      await flags.setApprovalPolicy(POLICY);
      const { approval } = await flags.startRollout(ref, STEPS, { bypassApproval: 'INC-42', reason: 'Fix' });
      expect(approval).toBe('bypass');
      const [started] = (await flags.listEvents({ type: 'rollout-started' })).items;
      expect(started).toMatchObject({ origin: 'bypass', reason: 'Fix\nINC-42' });
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['running', 1]]);
    });

    it('that began before the policy is paused at its next step, with the reason', async () => {
      flags = await start({ now: clock.now, runSchedules: 'elsewhere', rolloutGuard: () => answer });
      let answer: 'go' | 'rollback' = 'go';
      const ref = await addGradual(flags);
      const { id } = await flags.startRollout(ref, STEPS);
      await flags.setApprovalPolicy(POLICY);
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['paused', 0]]);
      expect((await flags.getRollout({ rollout: id })).failure).toMatchObject({ code: 'approval_required' });
      await flags.resumeRollout({ rollout: id });
      answer = 'rollback';
      clock.advance(MINUTE);
      expect(await round(flags)).toEqual([['paused', 0]]);
      expect(await percentage(flags)).toBe('5');
    });
  });

  describe('a proposed approval policy', () => {
    it('is approved like a change, and is refused in other sets', async () => {
      await protect();
      const change = { op: 'setApprovalPolicy', input: { environments: {} } } as const;
      await expectRefusal(flags, 'invalid_input', () => flags.apply([change as never]));
      await expectRefusal(flags, 'invalid_input', () => flags.createSchedule([change as never], { at: clock.text() }));
      await expectRefusal(flags, 'approval_required', () => flags.setApprovalPolicy({ environments: {} }));
      const { id, state, required } = await flags.as(ADA).createProposal({ changes: [change] }, LAUNCH);
      expect([state, required]).toEqual(['open', 1]);
      await flags.as(GRACE).approveProposal({ proposal: id });
      await flags.applyProposal({ proposal: id });
      expect(await flags.getApprovalPolicy()).toEqual({ environments: {} });
    });
  });

  describe('a schedule under a policy', () => {
    const at = () => clock.text(HOUR);

    it('is refused when it is made, or waits with a bypass', async () => {
      await protect();
      await expectRefusal(flags, 'approval_required', () => flags.createSchedule([ENABLE], { at: at() }));
      const options = { at: at(), bypassApproval: 'INC-42', reason: 'Fix' };
      const { id } = await flags.createSchedule([ENABLE], options);
      const [made] = (await flags.listEvents({ type: 'schedule-created' })).items;
      expect(made).toMatchObject({ origin: 'bypass', reason: 'Fix\nINC-42' });
      clock.advance(HOUR);
      await flags.runDue();
      const { state, changeSet } = await flags.getSchedule({ schedule: id });
      expect(state).toBe('applied');
      const { events } = await flags.getChangeSet({ changeSet: changeSet ?? '' });
      expect(events[0]).toMatchObject({ origin: `schedule/${id}`, reason: 'Fix\nINC-42' });
      const { token } = await flags.createToken({ name: 'ci', kind: 'admin' });
      await expectRefusal(flags, 'forbidden', () => flags.as(token).createSchedule([ENABLE], options));
    });

    it('fails if the policy is set meanwhile', async () => {
      await protect({ environments: {} } as never);
      const { id } = await flags.createSchedule([ENABLE], { at: at() });
      await flags.setApprovalPolicy(POLICY);
      clock.advance(HOUR);
      await flags.runDue();
      const schedule = await flags.getSchedule({ schedule: id });
      expect(schedule).toMatchObject({ state: 'failed', failure: { code: 'approval_required' } });
      expect(await isOn()).toBe(false);
    });
  });
});
