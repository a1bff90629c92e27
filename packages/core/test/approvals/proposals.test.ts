import { randomUUID } from 'node:crypto';
import type { Flags, FlagsOptions } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';
import { DAY, type SettableClock, settableClock } from '../settable-clock.js';
import * as world from './protected.js';
import { ADA, ALAN, ENABLE, GRACE, LAUNCH, POLICY, type Proposed, TWO } from './protected.js';

const MISSING = { proposal: '6f1c1f7e-6d0a-4c57-9b8e-4d5b1f2f7aff' };

onEveryStorage((start, share) => {
  let clock: SettableClock;
  let flags: Flags<string>;

  beforeEach(() => {
    clock = settableClock();
  });

  async function protect(policy = POLICY, options: Omit<FlagsOptions, 'storage'> = {}): Promise<void> {
    flags = await start({ now: clock.now, runSchedules: 'elsewhere', ...options });
    await world.protect(flags, policy);
  }

  const propose = () => world.propose(flags);
  const isOn = () => world.isOn(flags);
  const stateOf = (ref: Proposed) => world.stateOf(flags, ref);

  describe('a proposal', () => {
    it('waits, is approved by another person, and is applied as one set that names it', async () => {
      await protect();
      const made = await flags.as(ADA).createProposal({ changes: [ENABLE] }, LAUNCH);
      expect(made).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        state: 'open',
        changes: [ENABLE],
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
      const approved = await flags.as(GRACE).approveProposal({ proposal: id });
      expect(approved).toMatchObject({
        state: 'approved',
        required: 0,
        approvals: [{ actor: GRACE }],
        environments: ['development'],
        projects: ['default'],
      });
      expect((await flags.applyProposal({ proposal: id })).state).toBe('applied');
    });

    it('is refused before it has its approvals', async () => {
      await protect();
      const ref = await propose();
      const { message } = await expectRefusal(flags, 'approval_required', () => flags.applyProposal(ref));
      expect(message).toBe(`The proposal ${ref.proposal} needs 1 approval, and has 0.`);
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
      const { message } = await expectRefusal(flags, 'forbidden', () => flags.as(token).approveProposal(ref));
      expect(message).toContain('approve proposals');
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
      const early = await expectRefusal(flags, 'approval_required', () => flags.applyProposal(ref));
      expect(early.message).toBe(`The proposal ${ref.proposal} needs 2 approvals, and has 1.`);
      expect((await flags.as(ALAN).approveProposal(ref)).state).toBe('approved');
      expect((await flags.applyProposal(ref)).state).toBe('applied');
      const late = await expectRefusal(flags, 'proposal_not_open', () => flags.as(ALAN).rejectProposal(ref));
      expect(late.message).toContain('is applied, so it cannot be changed; undo its change set instead.');
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
      const late = await expectRefusal(flags, 'proposal_not_open', () => flags.as(ALAN).approveProposal(rejected));
      expect(late.message).toContain('is rejected, so it cannot be changed; make a new one.');
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
      const { message } = await expectRefusal(flags, 'proposal_lapsed', () => flags.applyProposal(ref));
      expect(message).toContain(`was open until ${expiresAt}, so it has lapsed; make it again.`);
      await flags.runDue();
      const [ended] = (await flags.listEvents({ type: 'proposal-ended' })).items;
      expect(ended?.data).toEqual({ id, state: 'lapsed', endedAt: expiresAt, changeSet: null });
      expect(ended?.before).toEqual({ id, state: 'approved' });
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
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes }, {} as never));
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes }, { reason: ' ' }));
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes: [] }, LAUNCH));
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({} as never, LAUNCH));
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal(null as never, LAUNCH));
      const unknown = [{ op: 'createToken', input: {} }] as never;
      await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes: unknown }, LAUNCH));
      for (const expiresAt of [clock.text(), clock.text(91 * DAY), '2026-03-02T12:00:00']) {
        await expectRefusal(flags, 'invalid_input', () => flags.createProposal({ changes }, { ...LAUNCH, expiresAt }));
      }
      await expectRefusal(flags, 'proposal_not_found', () => flags.getProposal(MISSING));
      await expectRefusal(flags, 'proposal_not_found', () => flags.applyProposal(MISSING));
    });

    it('of several projects names them in its events', async () => {
      await protect();
      await flags.createProject({ id: 'shop', name: 'Shop' });
      await flags.createFlag({ project: 'shop' }, { name: 'basket' });
      const basket = { project: 'shop', flag: 'basket', environment: 'production' };
      await flags.addStrategy(basket, { name: 'default' });
      const changes = [ENABLE, { op: 'enable', ref: basket }] as const;
      const { id, projects } = await flags.as(ADA).createProposal({ changes }, LAUNCH);
      expect(projects).toEqual(['default', 'shop']);
      await flags.as(GRACE).approveProposal({ proposal: id });
      await flags.withdrawProposal({ proposal: id });
      const { items } = await flags.listEvents({ limit: 3 });
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
      const again = await flags.as(GRACE).approveProposal({ proposal: id });
      expect([...again.environments].sort()).toEqual(['development', 'production']);
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
});
