import type { Flags } from '../../src/index.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT } from './references.js';
import { DAY, settableClock } from './settable-clock.js';

async function healthOf(flags: Flags): Promise<number> {
  const { health } = await flags.getProject(DEFAULT);
  expect(await flags.listProjects()).toMatchObject([{ health }]);
  return health;
}

onEveryStorage((start) => {
  describe('a project’s health', () => {
    it('is 100 without flags', async () => {
      expect(await healthOf(await start())).toBe(100);
    });

    it('falls by the share of stale flags, rounded', async () => {
      const flags = await start();
      for (const name of ['a', 'b', 'checkout']) await flags.createFlag(DEFAULT, { name });
      expect(await healthOf(flags)).toBe(100);
      await flags.updateFlag(CHECKOUT, { stale: true });
      expect(await healthOf(flags)).toBe(67);
      await flags.updateFlag({ ...DEFAULT, flag: 'a' }, { stale: true });
      expect(await healthOf(flags)).toBe(33);
      await flags.updateFlag(CHECKOUT, { stale: false });
      expect(await healthOf(flags)).toBe(67);
    });

    it('leaves archived flags out', async () => {
      const flags = await start();
      for (const name of ['a', 'checkout']) await flags.createFlag(DEFAULT, { name });
      await flags.updateFlag(CHECKOUT, { stale: true });
      await flags.archiveFlag(CHECKOUT);
      expect(await healthOf(flags)).toBe(100);
    });

    it.each([
      ['release', 40],
      ['experiment', 40],
      ['operational', 7],
    ])('counts a flag of type %s as potentially stale after %i days', async (type, days) => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      await flags.createFlag(DEFAULT, { name: 'checkout', type });
      clock.advance(days * DAY - 1000);
      expect(await healthOf(flags)).toBe(100);
      clock.advance(2000);
      expect(await healthOf(flags)).toBe(0);
    });

    it.each(['kill-switch', 'permission'])('never counts a flag of type %s as potentially stale', async (type) => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      await flags.createFlag(DEFAULT, { name: 'checkout', type });
      clock.advance(10_000 * DAY);
      expect(await healthOf(flags)).toBe(100);
    });

    it('counts a flag that is both stale and old once', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      clock.advance(41 * DAY);
      await flags.createFlag(DEFAULT, { name: 'young' });
      await flags.updateFlag(CHECKOUT, { stale: true });
      expect(await healthOf(flags)).toBe(50);
      expect(await flags.getProject(DEFAULT)).toMatchObject({ flagCount: 2, staleCount: 1, potentiallyStaleCount: 0 });
      await flags.updateFlag(CHECKOUT, { stale: false });
      expect(await flags.getProject(DEFAULT)).toMatchObject({ flagCount: 2, staleCount: 0, potentiallyStaleCount: 1 });
    });

    it('follows configured lifetimes', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now, flagTypes: [{ name: 'release', lifetimeDays: 1 }] });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      clock.advance(2 * DAY);
      expect(await healthOf(flags)).toBe(0);
    });
  });
});
