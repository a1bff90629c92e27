import type { Flags } from '../../src/index.js';
import { onEveryStorage } from '../on-every-storage.js';
import { PRODUCTION } from '../references.js';
import { DAY, MINUTE, type SettableClock, settableClock } from '../settable-clock.js';
import { addGradual, type Gradual, percentage, round, STEPS } from './start.js';

onEveryStorage((_, share) => {
  let clock: SettableClock;
  let flags: Flags<string>;
  let ref: Gradual;

  beforeEach(() => {
    clock = settableClock();
  });

  describe('two nodes', () => {
    async function nodes(rollout?: string): Promise<readonly [Flags<string>, Flags<string>]> {
      const startShared = await share();
      const options = { now: clock.now, due: { run: 'elsewhere' } } as const;
      const both = [await startShared(options), await startShared(options)] as const;
      [flags] = both;
      ref = await addGradual(flags, rollout);
      return both;
    }

    it('take each step once', async () => {
      const both = await nodes();
      await flags.rollouts.start(ref, STEPS);
      for (const expected of ['25', '60', '100']) {
        clock.advance(DAY);
        await both[1].refresh();
        const moved = await Promise.all(both.map(round));
        expect(moved.flat()).toHaveLength(1);
        expect(await percentage(flags)).toBe(expected);
      }
      expect((await flags.events.list({ type: 'rollout-stepped' })).items).toHaveLength(3);
    });

    it('start one rollout of a strategy, also if it has the percentage already', async () => {
      const both = await nodes('5');
      await both[1].refresh();
      const started = await Promise.allSettled(both.map((one) => one.rollouts.start(ref, STEPS)));
      expect(started.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      const rejected = started.find((one) => one.status === 'rejected');
      expect(rejected?.reason).toMatchObject({ code: 'rollout_exists' });
      await flags.refresh();
      expect((await flags.rollouts.list()).items).toHaveLength(1);
    });

    it('leave alone what the other one has ended, also if the replica does not know it yet', async () => {
      const [one, other] = await nodes();
      await one.rollouts.start(ref, STEPS);
      await other.disable(PRODUCTION);
      await other.enable(PRODUCTION);
      clock.advance(DAY);
      expect(await round(one)).toEqual([]);
      expect(await percentage(flags)).toBe('5');
      await one.refresh();
      expect((await one.rollouts.list()).items).toEqual([]);
    });

    it('take no step early that a slower clock has seen', async () => {
      const startShared = await share();
      const slow = settableClock(new Date(clock.now().getTime() - 5 * MINUTE).toISOString());
      const one = await startShared({ now: clock.now, due: { run: 'elsewhere' } });
      const other = await startShared({ now: slow.now, due: { run: 'elsewhere' } });
      flags = one;
      ref = await addGradual(one);
      await one.rollouts.start(ref, STEPS);
      await other.refresh();
      clock.advance(DAY);
      slow.advance(DAY);
      expect(await round(other)).toEqual([]);
      expect(await round(one)).toEqual([['running', 1]]);
      expect(await round(other)).toEqual([]);
    });
  });
});
