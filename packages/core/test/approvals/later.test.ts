import type { Flags, FlagsOptions } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { PRODUCTION } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { DAY, HOUR, type SettableClock, settableClock } from '../settable-clock.js';
import * as world from './protected.js';
import { ADA, ALAN, ENABLE, GRACE, LAUNCH, POLICY, type Proposed } from './protected.js';

onEveryStorage((start, _share) => {
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
      expect(await flags.getProposal(failing)).toMatchObject({
        ...{ state: 'lapsed', endedAt: clock.text(), changeSet: null },
      });
      const { message } = await expectRefusal(flags, 'proposal_lapsed', () => flags.as(ALAN).approveProposal(failing));
      expect(message).toContain('failed or expired at its time, so it has lapsed');
      const expiring = await propose();
      await flags.as(GRACE).approveProposal(expiring);
      await flags.applyProposal(expiring, { at: at() });
      clock.advance(3 * HOUR);
      await flags.runDue();
      expect(await stateOf(expiring)).toBe('lapsed');
      expect(await isOn()).toBe(false);
    });

    it('stays scheduled when another person approves it', async () => {
      await protect();
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      const { schedule } = await flags.applyProposal(ref, { at: at() });
      expect(await flags.as(ALAN).approveProposal(ref)).toMatchObject({
        ...{ state: 'scheduled', schedule, approvals: [{ actor: GRACE }, { actor: ALAN }] },
      });
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

    it('is refused where nobody carries schedules out, and after it lapses', async () => {
      await protect(POLICY, { runSchedules: false });
      const ref = await propose();
      await flags.as(GRACE).approveProposal(ref);
      await expectRefusal(flags, 'schedules_disabled', () => flags.applyProposal(ref, { at: at() }));
      await expectRefusal(flags, 'invalid_input', () => flags.applyProposal(ref, { notAfter: at() }));
      await expectRefusal(flags, 'invalid_input', () => flags.applyProposal(ref, { at: clock.text(15 * DAY) }));
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
