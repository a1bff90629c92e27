import { until } from '../../../../test/until.js';
import { createFlags, memoryStorage, memoryUsage } from '../../src/index.js';
import { faultyStorage } from '../../src/testing.js';
import { onEveryStorage } from './on-every-storage.js';
import { DEFAULT } from './references.js';
import { MINUTE, settableClock } from './settable-clock.js';

/**
 * Resolves when a stamp is the same before and after a step. On PostgreSQL it also changes when a transaction of another
 * database of the server ends, so one difference proves nothing.
 */
function untilSame(stamp: () => Promise<string | undefined>, step: () => unknown): Promise<unknown> {
  return until(async () => {
    const before = await stamp();
    await step();
    return (await stamp()) === before;
  });
}

onEveryStorage((start) => {
  describe('a stamp', () => {
    it('stays the same while nothing changes', async () => {
      const flags = await start();
      expect(await flags.dataVersion()).toEqual(expect.any(String));
      await untilSame(
        () => flags.dataVersion(),
        async () => {
          await flags.createFlag(DEFAULT, { name: 'not a name' }).catch(() => undefined);
          await flags.listFlags(DEFAULT);
        },
      );
    });

    it('is another one after a change, and after a report of usage', async () => {
      const flags = await start();
      const stamps = [await flags.dataVersion()];
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      stamps.push(await flags.dataVersion());
      const now = new Date().toISOString();
      const toggles = { checkout: { yes: 1, no: 0 } };
      await flags.reportMetrics({ appName: 'web', bucket: { start: now, stop: now, toggles } });
      stamps.push(await flags.dataVersion());
      expect(new Set(stamps).size).toBe(3);
    });

    it('of projects is another one every minute, as health depends on the age of flags', async () => {
      const clock = settableClock();
      const flags = await start({ now: clock.now });
      await untilSame(
        () => flags.dataVersion('flags'),
        () => clock.advance(MINUTE),
      );
      const stamp = await flags.dataVersion('projects');
      clock.advance(MINUTE);
      expect(await flags.dataVersion('projects')).not.toBe(stamp);
    });
  });
});

describe('a stamp', () => {
  it('is not given where usage is kept elsewhere, or the storage gives none', async () => {
    const { dataVersion: _, ...plain } = memoryStorage();
    for (const options of [{ storage: memoryStorage(), usage: memoryUsage() }, { storage: plain }]) {
      const flags = await createFlags(options);
      expect(await flags.dataVersion()).toBeUndefined();
      expect(await flags.dataVersion('projects')).toBeUndefined();
      await flags.close();
    }
  });

  it('fails as a read does, and is refused when the engine is closed', async () => {
    const storage = faultyStorage(memoryStorage());
    const flags = await createFlags({ storage });
    storage.inject({ method: 'dataVersion' });
    await expect(flags.dataVersion()).rejects.toMatchObject({ code: 'storage_unavailable' });
    storage.heal();
    await flags.close();
    await expect(flags.dataVersion()).rejects.toMatchObject({ code: 'closed' });
  });
});
