import type { FlagCount, MetricsStorage } from '../../src/index.js';
import { startUsageRecorder, type UsageOptions } from '../../src/live/usage-recorder.js';
import { memoryMetrics } from '../../src/metrics/memory.js';

const FAILURE = new Error('The disk is gone.');
const START = new Date('2026-03-01T12:00:00.000Z');

type Broken = 'register' | 'record';

/** A recorder that is only flushed by hand, over metrics that can be made to fail before anything is taken. */
function recording(options: Partial<UsageOptions> = {}) {
  const stored = memoryMetrics();
  const broken = new Set<Broken>();
  const errors: unknown[] = [];
  let counted: FlagCount[] = [];
  const guarded =
    <Input>(operation: Broken, call: (input: Input) => unknown) =>
    async (input: Input) => {
      if (broken.has(operation)) throw FAILURE;
      await call(input);
    };
  const metrics: MetricsStorage = {
    ...stored,
    register: guarded('register', stored.register),
    record: guarded('record', stored.record),
  };
  const recorder = startUsageRecorder({
    ...{ metrics, now: () => START, application: 'shop', instance: 'shop-1', strategies: [], interval: 0 },
    retention: { pruneWhenDue: async () => undefined },
    drain: () => counted.splice(0),
    onError: (error) => errors.push(error),
    ...options,
  });
  const count = (...counts: readonly FlagCount[]) => {
    counted = [...counted, ...counts];
  };
  return { recorder, stored, broken, errors, count };
}

const on = (flag: string, yes = 1): FlagCount => ({ flag, yes, no: 0 });

describe('recording usage', () => {
  it.each<Broken>(['register', 'record'])(
    'keeps the counts while it cannot %s, and counts nothing twice',
    async (operation) => {
      const { recorder, stored, broken, errors, count } = recording();
      broken.add(operation);
      count(on('checkout', 2), on('other'));
      await recorder.flush();
      count({ flag: 'checkout', yes: 1, no: 4 });
      await recorder.flush();
      expect(await stored.counts({ after: 0 })).toEqual([]);
      broken.delete(operation);
      await recorder.flush();
      await recorder.flush();
      expect(await stored.counts({ after: 0 })).toEqual([{ flag: 'checkout', yes: 3, no: 4 }, on('other')]);
      expect(errors).toEqual([FAILURE]);
    },
  );

  it('tells of a failure once, and again only after it has worked in between', async () => {
    const { recorder, broken, errors, count } = recording();
    for (const round of [1, 2]) {
      broken.add('record');
      count(on('checkout'));
      for (let attempt = 0; attempt < 3; attempt++) await recorder.flush();
      expect(errors).toHaveLength(round);
      broken.delete('record');
      await recorder.flush();
    }
  });

  it('tells that counts are lost when the last attempt fails as well, and closes', async () => {
    const { recorder, broken, errors, count } = recording();
    broken.add('record');
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

  it('records once what two flushes at a time find', async () => {
    const { recorder, stored, count } = recording();
    count(on('checkout', 5));
    await Promise.all([recorder.flush(), recorder.flush(), recorder.close()]);
    expect(await stored.counts({ after: 0 })).toEqual([on('checkout', 5)]);
  });

  it('holds one pair of numbers for a flag, however long recording fails', async () => {
    const reports: number[] = [];
    const { recorder, stored, broken, count } = recording();
    broken.add('record');
    for (let round = 0; round < 1000; round++) {
      count(on('checkout'), on('__proto__'));
      await recorder.flush();
    }
    broken.delete('record');
    await recorder.flush();
    for (const { yes } of await stored.counts({ after: 0 })) reports.push(yes);
    expect(reports).toEqual([1000, 1000]);
  });

  it('has old metrics dropped after each report, and not while there is nothing to report', async () => {
    let asked = 0;
    const { recorder, count } = recording({ retention: { pruneWhenDue: async () => void asked++ } });
    await recorder.flush();
    expect(asked).toBe(0);
    count(on('checkout'));
    await recorder.flush();
    expect(asked).toBe(1);
  });
});
