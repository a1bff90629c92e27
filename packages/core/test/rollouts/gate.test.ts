import type { Change, Flags } from '../../src/index.js';
import { ADA, ALAN, approve, LAUNCH, POLICY, type Requested } from '../change-requests/protected.js';
import { onEveryStorage } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../references.js';
import { expectRefusal } from '../refusal.js';
import { DAY, HOUR, MINUTE, type SettableClock, settableClock } from '../settable-clock.js';
import { addGradual, type Gradual, percentage, round, STEPS, strategiesOf } from './start.js';

onEveryStorage((start) => {
  let clock: SettableClock;
  let flags: Flags<string>;
  let ref: Gradual;
  let answer: 'go' | 'rollback';

  beforeEach(async () => {
    clock = settableClock();
    answer = 'go';
    flags = await start({ now: clock.now, due: { run: 'elsewhere', guard: () => answer } });
    ref = await addGradual(flags);
  });

  const protect = () => flags.approvalPolicy.set(POLICY);
  const BYPASS = { bypassApproval: 'INC-42' };
  const expectNeeded = (attempt: () => Promise<unknown>) => expectRefusal(flags, 'approval_required', attempt);

  async function propose(...changes: readonly Change[]) {
    const { id } = await flags.as(ADA).changeRequests.create(changes, LAUNCH);
    return { changeRequest: id };
  }

  const isCurrent = async (proposed: Requested) =>
    (await flags.changeRequests.get(proposed)).approvals.every(({ current }) => current);

  const withPercentage = (rollout: string, members: object = {}) =>
    ({
      name: 'flexibleRollout',
      parameters: { rollout, stickiness: 'default', groupId: 'checkout' },
      ...members,
    }) as const;

  describe('the start of a rollout under a policy', () => {
    it('is approved with all its steps, pauses and its end', async () => {
      await protect();
      await expectNeeded(() => flags.rollouts.start(ref, STEPS));
      const proposed = await propose({ op: 'startRollout', ref, input: STEPS });
      await approve(flags, proposed);
      expect(await flags.as(ADA).changeRequests.apply(proposed)).toMatchObject({ state: 'applied' });
      expect((await flags.rollouts.list()).items).toMatchObject([{ author: ADA, percentage: 5 }]);
      for (const [step, expected] of [
        [1, '25'],
        [2, '60'],
      ] as const) {
        clock.advance(DAY);
        expect(await round(flags)).toEqual([['running', step]]);
        expect(await percentage(flags)).toBe(expected);
      }
      await flags.rollouts.pause(ref);
      await flags.rollouts.resume(ref);
      // A hold that is cut short was not approved, but with a reason it can be.
      await expectNeeded(() => flags.rollouts.advance(ref));
      await flags.rollouts.advance(ref, {}, BYPASS);
      expect(await percentage(flags)).toBe('100');
      clock.advance(HOUR);
      expect(await round(flags)).toEqual([['ended', undefined]]);
    });

    it('needs approval even if its first step changes nothing, or a parent is off', async () => {
      await flags.updateStrategy(ref, withPercentage('5'));
      await flags.createFlag(DEFAULT, { name: 'parent' });
      await flags.addDependency(CHECKOUT, { flag: 'parent' });
      await protect();
      await expectNeeded(() => flags.rollouts.start(ref, STEPS));
      const { details } = await expectNeeded(() => flags.apply([{ op: 'startRollout', ref, input: STEPS }]));
      expect(details).toMatchObject([{ path: '/environments/production/default/checkout' }]);
    });

    it('with a bypass takes its steps', async () => {
      await protect();
      await flags.rollouts.start(ref, STEPS, { ...BYPASS, reason: 'Fix' });
      const [started] = (await flags.events.list({ type: 'rollout-started' })).items;
      expect(started).toMatchObject({ origin: 'bypass', reason: 'Fix\nINC-42' });
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['running', 1]]);
    });

    it('by what applies a change set is attributed to the person who applies it', async () => {
      await protect();
      const proposed = await propose({ op: 'startRollout', ref, input: STEPS });
      await approve(flags, proposed);
      await flags.as(ALAN).changeRequests.apply(proposed);
      clock.advance(DAY);
      await flags.runDue();
      expect((await flags.events.list({ type: 'rollout-stepped' })).items).toMatchObject([{ actor: ALAN.name }]);
    });
  });

  describe('a rollout from before the policy', () => {
    it('takes its steps, and those of a person whose hold is over', async () => {
      await flags.rollouts.start(ref, STEPS);
      await protect();
      clock.advance(DAY);
      expect(await round(flags)).toEqual([['running', 1]]);
      clock.advance(DAY - 1);
      await expectNeeded(() => flags.rollouts.advance(ref));
      clock.advance(1);
      await flags.rollouts.advance(ref);
      expect(await percentage(flags)).toBe('60');
      clock.advance(DAY + HOUR);
      await flags.rollouts.advance(ref);
      expect(await percentage(flags)).toBe('100');
      await expectNeeded(() => flags.rollouts.advance(ref, { step: 4 }));
    });

    it('may wait for a person: such a hold is over at any time', async () => {
      await flags.rollouts.start(ref, {
        steps: [
          { percentage: 5, hold: null },
          { percentage: 50, hold: HOUR },
        ],
      });
      await protect();
      await flags.rollouts.advance(ref);
      expect(await percentage(flags)).toBe('50');
    });

    it.each([false, true])('is stopped freely, with a rollback %s', async (rollback) => {
      await flags.rollouts.start(ref, STEPS);
      await protect();
      clock.advance(DAY);
      await flags.runDue();
      await flags.rollouts.stop(ref, { rollback });
      expect(await percentage(flags)).toBe(rollback ? '1' : '25');
      await expectNeeded(() => flags.updateStrategy(ref, withPercentage(rollback ? '25' : '1')));
    });

    it('is rolled back freely by the guard', async () => {
      await flags.rollouts.start(ref, STEPS);
      await protect();
      answer = 'rollback';
      clock.advance(MINUTE);
      expect(await round(flags)).toEqual([['ended', undefined]]);
      expect(await percentage(flags)).toBe('1');
    });

    it('may be edited to the percentage from before the start, and not to another one', async () => {
      await flags.addStrategy(PRODUCTION, { name: 'userWithId', parameters: { userIds: 'ada' } });
      await flags.rollouts.start(ref, STEPS);
      await protect();
      await expectNeeded(() => flags.updateStrategy(ref, withPercentage('25')));
      await expectNeeded(() => flags.updateStrategy(ref, withPercentage('1', { segments: [], disabled: true })));
      const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }] as const;
      await expectNeeded(() => flags.updateStrategy(ref, withPercentage('1', { constraints })));
      await expectNeeded(() => flags.removeStrategy(ref));
      // Clients see neither the title nor the end.
      await flags.updateStrategy(ref, withPercentage('5', { title: 'Ended' }));
      expect((await flags.rollouts.list()).items).toEqual([]);
      await flags.rollouts.start(ref, { steps: [{ percentage: 9, hold: null }] }, BYPASS);
      await flags.updateStrategy(ref, withPercentage('5'));
      await expectNeeded(() => flags.updateStrategy(ref, withPercentage('9')));
    });

    it('may not get other steps, and goes off freely', async () => {
      await flags.rollouts.start(ref, STEPS);
      await protect();
      const other = { steps: [{ percentage: 5, hold: HOUR }, { percentage: 100 }] };
      const replacing = [
        { op: 'stopRollout', ref },
        { op: 'startRollout', ref, input: other },
      ] as const;
      await expectNeeded(() => flags.apply(replacing));
      await expectNeeded(() =>
        flags.apply([
          { op: 'stopRollout', ref },
          { op: 'startRollout', ref, input: STEPS },
        ]),
      );
      await flags.disable(PRODUCTION);
      expect((await flags.rollouts.list()).items).toEqual([]);
    });
  });

  describe('an approval', () => {
    it('of a change of the neighbour is not stale after a step, and leaves the rollout as it is', async () => {
      const neighbour = { ...ref, strategy: (await flags.addStrategy(PRODUCTION, withPercentage('1'))).id };
      await flags.rollouts.start(ref, STEPS);
      await protect();
      const proposed = await propose({ op: 'updateStrategy', ref: neighbour, input: withPercentage('9') });
      await approve(flags, proposed);
      clock.advance(DAY);
      await flags.runDue();
      expect(await isCurrent(proposed)).toBe(true);
      await flags.changeRequests.apply(proposed);
      const shares = (await strategiesOf(flags)).map(({ parameters, rollout }) => [
        parameters?.rollout,
        rollout?.state,
      ]);
      expect(shares).toEqual([
        ['25', 'running'],
        ['9', undefined],
      ]);
    });

    it('of a change of a child is not stale after a step of its parent', async () => {
      await flags.createFlag(DEFAULT, { name: 'child' });
      const place = { ...PRODUCTION, flag: 'child' };
      await flags.addStrategy(place, { name: 'default' });
      await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'checkout' });
      await flags.rollouts.start(ref, STEPS);
      await protect();
      const proposed = await propose({ op: 'enable', ref: place });
      await approve(flags, proposed);
      clock.advance(DAY);
      await flags.runDue();
      expect(await isCurrent(proposed)).toBe(true);
      await flags.rollouts.stop(ref, { rollback: true });
      expect(await isCurrent(proposed)).toBe(false);
    });

    it('of an early step counts for that step', async () => {
      await flags.rollouts.start(ref, STEPS);
      await protect();
      const proposed = await propose({ op: 'advanceRollout', ref });
      await approve(flags, proposed);
      expect(await isCurrent(proposed)).toBe(true);
      clock.advance(DAY);
      await flags.runDue();
      expect(await isCurrent(proposed)).toBe(false);
      const again = await propose({ op: 'advanceRollout', ref });
      await approve(flags, again);
      await flags.changeRequests.apply(again);
      expect(await percentage(flags)).toBe('60');
    });
  });

  it('is not asked for plans, which show percentages', async () => {
    await flags.rollouts.start(ref, STEPS);
    const { effects } = await flags.plan([{ op: 'advanceRollout', ref }]);
    expect(effects).toMatchObject([{ flag: 'checkout', environment: 'production', before: 'on', after: 'on' }]);
    const paused = await flags.plan([{ op: 'pauseRollout', ref }]);
    expect(paused.effects).toEqual([]);
    expect(paused.documents).toMatchObject([{ events: [{ op: 'pauseRollout', type: 'rollout-paused' }] }]);
  });
});
