import { until } from '../../../../test/until.js';
import { type FlagsEvent, memoryStorage, openFlags } from '../../src/index.js';
import { dataVersion } from '../../src/router.operations.js';
import { faultyStorage } from '../../src/testing.js';
import { onEveryStorage } from '../on-every-storage.js';
import { DEFAULT } from '../references.js';
import { MINUTE, settableClock } from '../settable-clock.js';

const NAMES = Array.from({ length: 20 }, (_, n) => `flag-${String(n).padStart(2, '0')}`);

/** A listener, and a promise that resolves after this many events. */
function collector() {
  const events: FlagsEvent[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  return {
    events,
    listen: (event: FlagsEvent) => {
      events.push(event);
      for (const { count, resolve } of waiting) if (events.length >= count) resolve();
    },
    reached: (count: number) =>
      new Promise<void>((resolve) => {
        if (events.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

function flagsIn(events: readonly FlagsEvent[]): readonly (string | null)[] {
  return events.map(({ flag }) => flag);
}

onEveryStorage((start) => {
  describe('a subscription', () => {
    it('sends every event once, in order, one at a time', async () => {
      const flags = await start();
      const { events, listen, reached } = collector();
      let under = 0;
      const last = (await flags.events.list()).items[0]?.position;
      const listener = async (event: FlagsEvent) => {
        expect(++under).toBe(1);
        await new Promise(setImmediate);
        under--;
        listen(event);
      };
      flags.subscribe(listener, last === undefined ? {} : { after: last });
      for (const name of NAMES) await flags.createFlag(DEFAULT, { name });
      await reached(NAMES.length);
      expect(flagsIn(events)).toEqual(NAMES);
    });

    it('continues after the last position that was seen', async () => {
      const flags = await start();
      for (const name of NAMES) await flags.createFlag(DEFAULT, { name });
      const seen = (await flags.events.list({ flag: 'flag-09' })).items[0]?.position ?? '';
      const { events, listen, reached } = collector();
      flags.subscribe(listen, { after: seen });
      await flags.createFlag(DEFAULT, { name: 'last' });
      await reached(11);
      expect(flagsIn(events)).toEqual([...NAMES.slice(10), 'last']);
    });

    it('sends the events of simultaneous changes in the order of the log', async () => {
      const flags = await start();
      const { events, listen, reached } = collector();
      const after = (await flags.events.list({ limit: 1 })).items[0]?.position;
      flags.subscribe(listen, after === undefined ? {} : { after });
      await Promise.all(NAMES.map((name) => flags.createFlag(DEFAULT, { name })));
      await reached(NAMES.length);
      const log = await flags.events.list({ type: 'flag-created' });
      expect(flagsIn(events)).toEqual(flagsIn(log.items).toReversed());
    });

    it('continues after a listener that throws, and notifies the host', async () => {
      const faults: unknown[] = [];
      const flags = await start({ onError: (error) => faults.push(error) });
      const { events, listen, reached } = collector();
      const fault = new Error('The listener failed.');
      flags.subscribe((event) => {
        listen(event);
        if (event.flag === 'flag-00') throw fault;
        return event.flag === 'flag-01' ? Promise.reject(fault) : undefined;
      });
      for (const name of NAMES.slice(0, 3)) await flags.createFlag(DEFAULT, { name });
      while (events.at(-1)?.flag !== 'flag-02') await reached(events.length + 1);
      expect(faults).toEqual([fault, fault]);
    });

    it('ends when it is unsubscribed, and a second call does nothing', async () => {
      const flags = await start();
      const [ended, going] = [collector(), collector()];
      const unsubscribe = flags.subscribe(ended.listen);
      flags.subscribe(going.listen);
      unsubscribe();
      unsubscribe();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      while (going.events.at(-1)?.flag !== 'checkout') await going.reached(going.events.length + 1);
      expect(flagsIn(ended.events)).not.toContain('checkout');
    });

    it('is refused after the engine is closed', async () => {
      const flags = await start();
      await flags.close();
      expect(() => flags.subscribe(() => undefined)).toThrow(expect.objectContaining({ code: 'closed' }));
    });
  });
});

describe('stamps', () => {
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
      it('does not change while nothing changes', async () => {
        const flags = await start();
        expect(await dataVersion(flags)).toEqual(expect.any(String));
        await untilSame(
          () => dataVersion(flags),
          async () => {
            await flags.createFlag(DEFAULT, { name: 'not a name' }).catch(() => undefined);
            (await flags.listFlags(DEFAULT)).items;
          },
        );
      });

      it('changes after a change, and after a report of usage', async () => {
        const flags = await start();
        const stamps = [await dataVersion(flags)];
        await flags.createFlag(DEFAULT, { name: 'checkout' });
        stamps.push(await dataVersion(flags));
        const now = new Date().toISOString();
        const counts = { checkout: { yes: 1, no: 0 } };
        await flags.reportMetrics({ application: 'web', start: now, stop: now, counts });
        stamps.push(await dataVersion(flags));
        expect(new Set(stamps).size).toBe(3);
      });

      it('changes every minute for projects, as health depends on the age of flags', async () => {
        const clock = settableClock();
        const flags = await start({ now: clock.now });
        await untilSame(
          () => dataVersion(flags, 'flags'),
          () => clock.advance(MINUTE),
        );
        const stamp = await dataVersion(flags, 'projects');
        clock.advance(MINUTE);
        expect(await dataVersion(flags, 'projects')).not.toBe(stamp);
      });
    });
  });

  describe('a stamp', () => {
    it('is absent if a foreign storage leaves usage to memory, or the storage does not support it', async () => {
      const [{ usage: _, ...foreign }, { dataVersion: __, ...plain }] = [memoryStorage(), memoryStorage()];
      for (const storage of [foreign, plain]) {
        const flags = await openFlags({ storage });
        expect(await dataVersion(flags)).toBeUndefined();
        expect(await dataVersion(flags, 'projects')).toBeUndefined();
        await flags.close();
      }
    });

    it('rejects like a read, and is refused when the engine is closed', async () => {
      const storage = faultyStorage(memoryStorage());
      const flags = await openFlags({ storage });
      storage.inject({ method: 'dataVersion' });
      await expect(dataVersion(flags)).rejects.toMatchObject({ code: 'storage_unavailable' });
      storage.heal();
      await flags.close();
      await expect(dataVersion(flags)).rejects.toMatchObject({ code: 'closed' });
    });
  });
});
