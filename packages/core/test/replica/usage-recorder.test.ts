import type { FlagCount } from '../../src/index.js';
import { memoryMetrics } from '../../src/storage/memory/metrics.js';
import { faultyMetrics } from '../../src/testing.js';
import { startUsageRecorder, type UsageOptions } from '../../src/usage/usage-recorder.js';

const FAILURE = new Error('The disk is gone.');
const START = new Date('2026-03-01T12:00:00.000Z');

type Broken = 'register' | 'record';

/** A recorder that is only flushed by hand, over metrics that can be made to fail before anything is taken. */
function recording(options: Partial<UsageOptions> = {}) {
  const stored = memoryMetrics();
  const errors: unknown[] = [];
  let counted: FlagCount[] = [];
  const metrics = faultyMetrics(stored);
  const recorder = startUsageRecorder({
    ...{ metrics, now: () => START, application: 'shop', instance: 'shop-1', strategies: [], interval: 0 },
    retention: { pruneWhenDue: async () => undefined, mayHaveDropped: () => false },
    drain: () => counted.splice(0).map((count) => ({ ...count, environment: 'production' })),
    onError: (error) => errors.push(error),
    ...options,
  });
  const count = (...counts: readonly FlagCount[]) => {
    counted = [...counted, ...counts];
  };
  return { recorder, stored, metrics, errors, count };
}

const on = (flag: string, yes = 1): FlagCount => ({ flag, yes, no: 0 });

describe('recording usage', () => {
  it.each<Broken>(['register', 'record'])(
    'keeps the counts while it cannot %s, and counts nothing twice',
    async (operation) => {
      const { recorder, stored, metrics, errors, count } = recording();
      metrics.inject({ method: operation, error: FAILURE });
      count(on('checkout', 2), on('other'));
      await recorder.flush();
      count({ flag: 'checkout', yes: 1, no: 4 });
      await recorder.flush();
      expect(await stored.counts({ after: 0 })).toEqual([]);
      metrics.heal();
      await recorder.flush();
      await recorder.flush();
      expect(await stored.counts({ after: 0 })).toEqual([{ flag: 'checkout', yes: 3, no: 4 }, on('other')]);
      expect(errors).toEqual([FAILURE]);
    },
  );

  it('reports a failure once, and again only after a success', async () => {
    const { recorder, metrics, errors, count } = recording();
    for (const round of [1, 2]) {
      metrics.inject({ method: 'record', error: FAILURE });
      count(on('checkout'));
      for (let attempt = 0; attempt < 3; attempt++) await recorder.flush();
      expect(errors).toHaveLength(round);
      metrics.heal();
      await recorder.flush();
    }
  });

  it('tells that counts are lost when the last attempt fails as well, and closes', async () => {
    const { recorder, metrics, errors, count } = recording();
    metrics.inject({ method: 'record', error: FAILURE });
    count(on('checkout'));
    await recorder.flush();
    await recorder.close();
    expect(errors).toEqual([FAILURE, FAILURE]);
  });

  it('does not write, nor register, while nothing was counted', async () => {
    const { recorder, stored } = recording();
    await recorder.flush();
    expect(await stored.application('shop')).toBeUndefined();
  });

  it('records once with two simultaneous flushes', async () => {
    const { recorder, stored, count } = recording();
    count(on('checkout', 5));
    await Promise.all([recorder.flush(), recorder.flush(), recorder.close()]);
    expect(await stored.counts({ after: 0 })).toEqual([on('checkout', 5)]);
  });

  it('drops what waits of a flag that is deleted, while it is being recorded as well', async () => {
    const { recorder, stored, metrics, count } = recording();
    const failing = metrics.inject({ method: 'record', hang: true, error: FAILURE });
    count(on('waiting'), on('checkout'));
    const first = recorder.flush();
    while (failing.strikes() === 0) await new Promise(setImmediate);
    recorder.forget('checkout');
    failing.release();
    await first;
    recorder.forget('waiting');
    metrics.heal();
    count(on('checkout', 7));
    await recorder.flush();
    expect(await stored.counts({ after: 0 })).toEqual([on('checkout', 7)]);
  });

  it('holds one pair of numbers for a flag, however long recording fails', async () => {
    const reports: number[] = [];
    const { recorder, stored, metrics, count } = recording();
    metrics.inject({ method: 'record', error: FAILURE });
    for (let round = 0; round < 1000; round++) {
      count(on('checkout'), on('__proto__'));
      await recorder.flush();
    }
    metrics.heal();
    await recorder.flush();
    for (const { yes } of await stored.counts({ after: 0 })) reports.push(yes);
    expect(reports).toEqual([1000, 1000]);
  });

  it('has old metrics dropped after each report, and not while there is nothing to report', async () => {
    let asked = 0;
    const { recorder, count } = recording({
      retention: { pruneWhenDue: async () => void asked++, mayHaveDropped: () => false },
    });
    await recorder.flush();
    expect(asked).toBe(0);
    count(on('checkout'));
    await recorder.flush();
    expect(asked).toBe(1);
  });
});
