import type { Flags } from '../../src/index.js';
import { ADA, approve, POLICY } from '../change-requests/protected.js';
import { onEveryStorage } from '../on-every-storage.js';
import { DEFAULT, PRODUCTION } from '../references.js';
import { DAY, HOUR, type SettableClock, settableClock } from '../settable-clock.js';
import { addGradual, type Gradual, percentage, STEPS } from './start.js';

onEveryStorage((start) => {
  let clock: SettableClock;
  let flags: Flags<string>;
  let ref: Gradual;

  beforeEach(async () => {
    clock = settableClock();
    flags = await start({ now: clock.now, due: { run: 'elsewhere' } });
    ref = await addGradual(flags);
  });

  describe('a change request with a time', () => {
    const banner = { ...PRODUCTION, flag: 'banner' };
    const isBannerOn = async () =>
      (await flags.getFlag({ ...DEFAULT, flag: 'banner' })).environments.find(({ name }) => name === 'production')
        ?.enabled;

    it('starts an approved rollout and enables another flag in one commit', async () => {
      await flags.createFlag(DEFAULT, { name: 'banner' });
      await flags.addStrategy(banner, { name: 'default' });
      await flags.approvalPolicy.set(POLICY);
      const { id } = await flags.as(ADA).changeRequests.create(
        [
          { op: 'startRollout', ref, input: STEPS },
          { op: 'enable', ref: banner },
        ],
        { at: clock.text(HOUR) },
      );
      await approve(flags, { changeRequest: id });
      clock.advance(HOUR);
      expect((await flags.runDue()).items).toMatchObject([{ id, state: 'applied' }]);
      const { changeSet } = await flags.changeRequests.get({ changeRequest: id });
      const { items } = await flags.events.list({ limit: 20 });
      const together = items.filter((event) => event.changeSet === changeSet);
      expect(together.map(({ type }) => type).toSorted()).toEqual(
        ['change-request-ended', 'environment-enabled', 'rollout-started', 'strategy-updated'].toSorted(),
      );
      expect([await percentage(flags), await isBannerOn()]).toEqual(['5', true]);
      // The steps were approved with the start.
      clock.advance(DAY);
      await flags.runDue();
      expect(await percentage(flags)).toBe('25');
    });

    it('is taken back by one undo', async () => {
      await flags.createFlag(DEFAULT, { name: 'banner' });
      await flags.addStrategy(banner, { name: 'default' });
      const { id } = await flags.changeRequests.create(
        [
          { op: 'startRollout', ref, input: STEPS },
          { op: 'enable', ref: banner },
        ],
        { at: clock.text(HOUR) },
      );
      clock.advance(HOUR);
      await flags.runDue();
      const { changeSet } = await flags.changeRequests.get({ changeRequest: id });
      await flags.history.undo({ changeSet: `${changeSet}` });
      expect([await percentage(flags), await isBannerOn()]).toEqual(['1', false]);
      expect((await flags.rollouts.list()).items).toEqual([]);
    });
  });

  describe('a change request with `ifUnchanged`', () => {
    const rename = { op: 'updateFlag', ref: { ...DEFAULT, flag: 'checkout' }, input: { description: 'New' } } as const;
    const later = async () => {
      await flags.rollouts.start(ref, STEPS);
      return flags.changeRequests.create([rename], { at: clock.text(2 * DAY), ifUnchanged: true });
    };

    it('is applied after steps and pauses of a rollout of the flag', async () => {
      const { id } = await later();
      clock.advance(DAY);
      await flags.runDue();
      expect(await percentage(flags)).toBe('25');
      await flags.rollouts.pause(ref);
      clock.advance(DAY);
      expect((await flags.runDue()).items).toMatchObject([{ id, state: 'applied', failure: null }]);
    });

    it('fails if the rollout was stopped', async () => {
      const { id } = await later();
      await flags.rollouts.stop(ref);
      clock.advance(2 * DAY);
      const failure = { code: 'revision_mismatch' };
      expect((await flags.runDue()).items).toMatchObject([{ id, state: 'failed', failure }]);
    });
  });
});
