import type { FlagsEvent } from '../../src/index.js';
import { onEveryStorage } from './on-every-storage.js';
import { DEFAULT } from './references.js';

const NAMES = Array.from({ length: 20 }, (_, n) => `flag-${String(n).padStart(2, '0')}`);

/** A listener that tells when so many events have come. */
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
    it('brings every event once, in order, one at a time', async () => {
      const flags = await start();
      const { events, listen, reached } = collector();
      let under = 0;
      const last = (await flags.listEvents()).events[0]?.position;
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

    it('goes on after the last position that was seen', async () => {
      const flags = await start();
      for (const name of NAMES) await flags.createFlag(DEFAULT, { name });
      const seen = (await flags.listEvents({ flag: 'flag-09' })).events[0]?.position ?? '';
      const { events, listen, reached } = collector();
      flags.subscribe(listen, { after: seen });
      await flags.createFlag(DEFAULT, { name: 'last' });
      await reached(11);
      expect(flagsIn(events)).toEqual([...NAMES.slice(10), 'last']);
    });

    it('brings the events of simultaneous changes in the order of the log', async () => {
      const flags = await start();
      const { events, listen, reached } = collector();
      const after = (await flags.listEvents({ limit: 1 })).events[0]?.position;
      flags.subscribe(listen, after === undefined ? {} : { after });
      await Promise.all(NAMES.map((name) => flags.createFlag(DEFAULT, { name })));
      await reached(NAMES.length);
      const log = await flags.listEvents({ type: 'flag-created' });
      expect(flagsIn(events)).toEqual(flagsIn(log.events).toReversed());
    });

    it('goes on after a listener that throws, and tells the host', async () => {
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

    it('ends when told, and ending it again does nothing', async () => {
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
