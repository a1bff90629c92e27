import { metricsConformance } from '@flags/core/testing';
import { memoryCounters, memoryMetrics } from '../../src/storage/memory/metrics.js';
import type { FlagSums } from '../../src/storage/metrics-composition.js';
import type { FlagCount, UsageReport } from '../../src/storage/metrics-port.js';

metricsConformance('memory', () => ({ metrics: memoryMetrics() }));

/** Sums that also count how many counts were added. */
class VisitedSums extends Map<string, FlagCount> implements FlagSums {
  visits = 0;

  override set(flag: string, count: FlagCount): this {
    this.visits += 1;
    return super.set(flag, count);
  }
}

describe('the counters of many flags in memory', () => {
  const FLAGS = 500;
  const SECONDS = 900;
  const START = 1_800_000_000;
  const counts = Array.from({ length: FLAGS }, (_, at) => ({ flag: `flag-${at}`, yes: 1, no: 2 }));

  function reportAt(second: number): UsageReport {
    return { application: 'web', instance: { id: 'i' }, at: second * 1000, stop: second * 1000, counts };
  }

  function sumAfter(counters: ReturnType<typeof memoryCounters>, second: number): VisitedSums {
    const sums = new VisitedSums();
    const work = counters.sumAfter(second * 1000, sums);
    while (work());
    return sums;
  }

  it('keep old seconds by the minute, and the last minute by the second', () => {
    const counters = memoryCounters();
    for (let second = 1; second <= SECONDS; second++) counters.add([reportAt(START + second)]);
    const all = sumAfter(counters, START);
    expect([...all.values()]).toEqual(counts.map(({ flag }) => ({ flag, yes: SECONDS, no: 2 * SECONDS })));
    expect(all.visits).toBeLessThan(FLAGS * (2 * 60 + SECONDS / 60 + 2));
    for (const length of [60, 17, 1]) {
      const last = sumAfter(counters, START + SECONDS - length);
      expect(last.get('flag-7')).toEqual({ flag: 'flag-7', yes: length, no: 2 * length });
    }
    counters.forget('flag-7');
    expect(sumAfter(counters, START).has('flag-7')).toBe(false);
    const expiry = counters.dropUntil((START + SECONDS) * 1000);
    while (expiry());
    expect(sumAfter(counters, START).size).toBe(0);
  });

  it('count everything once in a sum that is interrupted by a report', () => {
    const counters = memoryCounters();
    for (let second = 1; second <= SECONDS; second++) counters.add([reportAt(START + second)]);
    const sums = new VisitedSums();
    const work = counters.sumAfter(START * 1000, sums);
    work();
    for (let second = 1; second <= 60; second++) counters.add([{ ...reportAt(START + SECONDS + second), counts: [] }]);
    while (work());
    expect(sums.get('flag-0')).toEqual({ flag: 'flag-0', yes: SECONDS, no: 2 * SECONDS });
  });
});

describe('applications of public reporters that take all the memory', () => {
  const AT = 1_800_000_000_000;

  it('free their limit for other applications and usage', async () => {
    const metrics = memoryMetrics();
    const seen = { instance: { id: 'i' }, at: AT };
    await metrics.record([{ ...seen, application: 'web', stop: AT, counts: [{ flag: 'old', yes: 1, no: 0 }] }]);
    const strategies = Array.from({ length: 600 }, (_, number) => `${number}`.padEnd(100, 's'));
    for (let number = 0; number < 1000; number++) {
      const reporter = { token: `page-${number % 20}`, isPublic: true };
      await metrics.register({ ...seen, application: `invented-${number}`, reporter, strategies });
    }
    const invented = (await metrics.applications({ seenSince: 0 })).length;
    await metrics.register({ ...seen, application: 'shop', strategies });
    await metrics.record([{ ...seen, application: 'web', stop: AT, counts: [{ flag: 'new', yes: 1, no: 0 }] }]);
    expect((await metrics.application('shop'))?.strategies).toEqual(strategies);
    expect((await metrics.application('web'))?.flags).toEqual(['new', 'old']);
    expect((await metrics.applications({ seenSince: 0 })).length).toBeGreaterThan(invented * 0.9);
  });
});
