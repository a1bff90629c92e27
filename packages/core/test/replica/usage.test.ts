import { until } from '../../../../test/until.js';
import type { Flags } from '../../src/index.js';
import { onEveryStorage, type Start } from '../rules/on-every-storage.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../rules/references.js';
import { HOUR, settableClock } from '../rules/settable-clock.js';
import { SILENT } from './silent.js';
import { createSwitchedOn, onlyFor } from './switched-on.js';

const OFTEN = { ...SILENT, usageInterval: 2 };

async function hourIn(flags: Flags) {
  return Object.fromEntries((await flags.countEvaluations()).lastHour);
}

/** Waits until so many evaluations have been recorded. */
async function recorded(flags: Flags, count: number): Promise<void> {
  await until(async () => {
    const counts = Object.values(await hourIn(flags));
    return counts.reduce((sum, { yes, no }) => sum + yes + no, 0) >= count;
  });
}

async function adasCheckout(start: Start, options: Parameters<Start>[0] = {}) {
  const flags = await start({ ...OFTEN, ...options });
  await createSwitchedOn(flags, { flag: 'checkout', strategies: [onlyFor('ada')] });
  return flags;
}

onEveryStorage((start) => {
  describe('usage', () => {
    it('tells again which application it is that counts, when it was dropped while it counted nothing', async () => {
      const clock = settableClock();
      const flags = await adasCheckout(start, { appName: 'shop', now: clock.now, applicationRetention: 10 * HOUR });
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      clock.advance(11 * HOUR);
      const time = clock.text();
      await flags.reportMetrics({ appName: 'other', bucket: { start: time, stop: time, toggles: {} } });
      await expect(flags.getApplication({ application: 'shop' })).rejects.toMatchObject({
        code: 'application_not_found',
      });
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      expect((await flags.getApplication({ application: 'shop' })).strategies).toContain('userWithId');
    });

    it('counts every evaluation by its result, in the same metrics as client reports', async () => {
      const flags = await adasCheckout(start);
      for (const userId of ['ada', 'ada', 'bob']) flags.isEnabled('checkout', { userId });
      flags.getVariant('checkout', { userId: 'ada' });
      flags.forContext({ userId: 'bob' }).isEnabled('checkout');
      await recorded(flags, 5);
      expect(await hourIn(flags)).toEqual({ checkout: { yes: 3, no: 2 } });
      const bucket = {
        start: new Date().toISOString(),
        stop: new Date().toISOString(),
        toggles: { checkout: { yes: 1, no: 0 } },
      };
      await flags.reportMetrics({ appName: 'web', bucket });
      expect(await hourIn(flags)).toEqual({ checkout: { yes: 4, no: 2 } });
    });

    it('adds up over the environments', async () => {
      const flags = await adasCheckout(start);
      flags.isEnabled('checkout', { userId: 'ada' });
      flags.isEnabled('checkout', { userId: 'ada' }, { environment: 'development' });
      await recorded(flags, 2);
      expect(await hourIn(flags)).toEqual({ checkout: { yes: 1, no: 1 } });
    });

    it('goes on when the flag changes, and what was counted before is not lost', async () => {
      const flags = await adasCheckout(start);
      flags.isEnabled('checkout', { userId: 'ada' });
      const pinned = flags.forContext({ userId: 'ada' });
      await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
      flags.isEnabled('checkout', { userId: 'ada' });
      pinned.isEnabled('checkout');
      await recorded(flags, 3);
      expect(await hourIn(flags)).toEqual({ checkout: { yes: 3, no: 0 } });
    });

    it('is under the application’s name and instance, with the strategies it evaluates', async () => {
      const strategies = [{ name: 'weekend', isEnabled: () => true }];
      const flags = await adasCheckout(start, { appName: 'shop', instanceId: 'shop-1', strategies });
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      const application = await flags.getApplication({ application: 'shop' });
      expect(application.instances).toMatchObject([{ instanceId: 'shop-1' }]);
      expect(application.seenFlags).toEqual(['checkout']);
      expect(application.strategies).toEqual(expect.arrayContaining(['default', 'flexibleRollout', 'weekend']));
      expect(await flags.listSeenFlags()).toEqual([{ appName: 'shop', flags: ['checkout'], metricsCount: 1 }]);
    });

    it('is recorded for default and this process without an application name', async () => {
      const flags = await adasCheckout(start);
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      const { instances } = await flags.getApplication({ application: 'default' });
      expect(instances).toMatchObject([{ instanceId: expect.stringMatching(new RegExp(`-${process.pid}$`)) }]);
    });

    it('moves when the flag was last seen, and not its revision', async () => {
      const clock = settableClock();
      const flags = await adasCheckout(start, { now: clock.now });
      const { revision, lastSeenAt } = await flags.getFlag(CHECKOUT);
      expect(lastSeenAt).toBeNull();
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject({ revision, lastSeenAt: clock.text() });
    });

    it('does not count unknown flags, explanations and configurations', async () => {
      const flags = await adasCheckout(start);
      flags.isEnabled('none', {}, { fallback: true });
      flags.getVariant('none');
      flags.explain('checkout');
      flags.configuration();
      await flags.archiveFlag(CHECKOUT);
      flags.isEnabled('checkout');
      await createSwitchedOn(flags, { flag: 'known' });
      flags.isEnabled('known');
      await recorded(flags, 1);
      expect(await hourIn(flags)).toEqual({ known: { yes: 1, no: 0 } });
    });

    it('counts a parent only when it was asked for itself', async () => {
      const flags = await adasCheckout(start);
      await createSwitchedOn(flags, { flag: 'child' });
      await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'checkout' });
      flags.isEnabled('child', { userId: 'ada' });
      await recorded(flags, 1);
      expect(await hourIn(flags)).toEqual({ child: { yes: 1, no: 0 } });
    });

    it('is dropped from the metrics when it is old, without any client reporting', async () => {
      const clock = settableClock();
      const flags = await adasCheckout(start, { now: clock.now, applicationRetention: HOUR, appName: 'early' });
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      const bucket = { start: clock.text(), stop: clock.text(), toggles: { gone: { yes: 1, no: 0 } } };
      await flags.reportMetrics({ appName: 'web', bucket });
      clock.advance(3 * HOUR);
      flags.isEnabled('checkout');
      await until(async () => (await flags.listSeenFlags()).every(({ appName }) => appName !== 'web'));
      expect((await flags.listSeenFlags()).map(({ appName }) => appName)).toEqual(['early']);
    });

    it('does not increment the revision of the flag', async () => {
      const flags = await adasCheckout(start);
      const { revision } = await flags.getFlag(CHECKOUT);
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      await expect(flags.disable(PRODUCTION, { ifRevision: revision })).resolves.toBeUndefined();
    });
  });
});
