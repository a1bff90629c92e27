import type { FlagCount, UsageStorage } from '../../src/index.js';
import { memoryUsage } from '../../src/storage/memory/memory-usage.js';
import { faultyUsage } from '../../src/testing.js';
import { startUsageRecorder, type UsageOptions } from '../../src/usage/usage-recorder.js';
import { createUsageWriter } from '../../src/usage/usage-writer.js';

const FAILURE = new Error('The disk is gone.');
const START = new Date('2026-03-01T12:00:00.000Z');

/** A recorder that is only flushed by hand, over usage that can be made to fail before anything is taken. */
function recording(options: Partial<UsageOptions> = {}) {
  const stored = memoryUsage();
  const errors: unknown[] = [];
  let counted: FlagCount[] = [];
  const usage = faultyUsage(stored);
  const now = () => START;
  const writer = createUsageWriter({
    ...{ usage, isFlag: () => true, now, applicationRetention: 1e12 },
    onError: (error) => errors.push(error),
  });
  const recorder = startUsageRecorder({
    ...{ writer, now, application: 'shop', instance: 'shop-1', strategies: [], interval: 0 },
    drain: () => counted.splice(0).map((count) => ({ ...count, environment: 'production' })),
    onError: (error) => errors.push(error),
    ...options,
  });
  const count = (...counts: readonly FlagCount[]) => {
    counted = [...counted, ...counts];
  };
  return { recorder, stored, usage, errors, count };
}

const countsIn = async (usage: UsageStorage) => usage.sum({ resolution: 'minute', by: ['flag'] });

const on = (flag: string, yes = 1): FlagCount => ({ flag, yes, no: 0 });

describe('recording usage', () => {
  it.each(['before', 'after'] as const)(
    'keeps the counts while recording fails %s it has an effect, and counts nothing twice',
    async (point) => {
      const { recorder, stored, usage, errors, count } = recording();
      usage.inject({ method: 'record', point, error: FAILURE });
      count(on('checkout', 2), on('other'));
      await recorder.flush();
      count({ flag: 'checkout', yes: 1, no: 4 });
      await recorder.flush();
      expect((await countsIn(stored)).length).toBe(point === 'before' ? 0 : 2);
      usage.heal();
      await recorder.flush();
      await recorder.flush();
      expect(await countsIn(stored)).toEqual([{ flag: 'checkout', yes: 3, no: 4 }, on('other')]);
      expect(errors).toEqual([FAILURE]);
    },
  );

  it('tells of a failure once, and again only after it has worked in between', async () => {
    const { recorder, usage, errors, count } = recording();
    for (const round of [1, 2]) {
      usage.inject({ method: 'record', error: FAILURE });
      count(on('checkout'));
      for (let attempt = 0; attempt < 3; attempt++) await recorder.flush();
      expect(errors).toHaveLength(round);
      usage.heal();
      await recorder.flush();
    }
  });

  it('tells that counts are lost when the last attempt fails as well, and closes', async () => {
    const { recorder, usage, errors, count } = recording();
    usage.inject({ method: 'record', error: FAILURE });
    count(on('checkout'));
    await recorder.flush();
    await recorder.close();
    expect(errors).toEqual([FAILURE, FAILURE]);
  });

  it('does not write, nor register, while nothing was counted', async () => {
    const { recorder, stored } = recording();
    await recorder.flush();
    expect(await stored.applications({})).toEqual([]);
  });

  it('records once what two flushes at a time find', async () => {
    const { recorder, stored, count } = recording();
    count(on('checkout', 5));
    await Promise.all([recorder.flush(), recorder.flush(), recorder.close()]);
    expect(await countsIn(stored)).toEqual([on('checkout', 5)]);
  });

  it('drops what waits of a flag that is deleted, while it is being recorded as well', async () => {
    const { recorder, stored, usage, count } = recording();
    const failing = usage.inject({ method: 'record', hang: true, error: FAILURE });
    count(on('waiting'), on('checkout'));
    const first = recorder.flush();
    while (failing.strikes() === 0) await new Promise(setImmediate);
    recorder.forget('checkout');
    failing.release();
    await first;
    recorder.forget('waiting');
    usage.heal();
    count(on('checkout', 7));
    await recorder.flush();
    expect(await countsIn(stored)).toEqual([on('checkout', 7)]);
  });

  it('holds one pair of numbers for a flag, however long recording fails', async () => {
    const reports: number[] = [];
    const { recorder, stored, usage, count } = recording();
    usage.inject({ method: 'record', error: FAILURE });
    for (let round = 0; round < 1000; round++) {
      count(on('checkout'), on('__proto__'));
      await recorder.flush();
    }
    usage.heal();
    await recorder.flush();
    for (const { yes } of await countsIn(stored)) reports.push(yes);
    expect(reports).toEqual([1000, 1000]);
  });
});
