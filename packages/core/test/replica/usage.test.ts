import { until } from '../../../../test/until.js';
import { startUsageRecorder, type UsageOptions } from '../../src/features/usage/usage-recorder.js';
import { createUsageWriter } from '../../src/features/usage/usage-writer.js';
import { type Flags, type FlagsError, type Impression, memoryStorage, openFlags } from '../../src/index.js';
import { memoryUsage } from '../../src/storage/memory/usage.js';
import type { FlagCount, UsageStorage } from '../../src/storage/usage/port.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, DEVELOPMENT, PRODUCTION } from '../references.js';
import { HOUR, settableClock } from '../settable-clock.js';
import { faultyUsage, withUsage } from '../usage/faulty-usage.js';
import { SILENT } from './silent.js';
import { createSwitchedOn, onlyFor } from './switched-on.js';

const OFTEN = { ...SILENT, usage: { interval: 2 } };

async function hourIn(flags: Flags) {
  return Object.fromEntries((await flags.usage.count()).lastHour);
}

/** Waits until this many evaluations have been recorded. */
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
    it('registers its application again if it was dropped while nothing was counted', async () => {
      const clock = settableClock();
      const flags = await adasCheckout(start, {
        now: clock.now,
        usage: { ...OFTEN.usage, application: 'shop', retention: 10 * HOUR },
      });
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      clock.advance(11 * HOUR);
      const time = clock.text();
      const codeOf = ({ code }: FlagsError) => code;
      const find = () => flags.applications.get({ application: 'shop' }).then(() => undefined, codeOf);
      // No reporter waits for the pruning. A report does not prune while an earlier batch still does.
      await until(async () => {
        await flags.reportMetrics({ application: 'other', start: time, stop: time, counts: {} });
        return (await find()) === 'application_not_found';
      });
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      expect((await flags.applications.get({ application: 'shop' })).strategies).toContain('userWithId');
    });

    it('counts every evaluation by its result, in the same metrics as client reports', async () => {
      const flags = await adasCheckout(start);
      for (const userId of ['ada', 'ada', 'bob']) flags.isEnabled('checkout', { userId });
      flags.getVariant('checkout', { userId: 'ada' });
      flags.forContext({ userId: 'bob' }).isEnabled('checkout');
      await recorded(flags, 5);
      expect(await hourIn(flags)).toEqual({ checkout: { yes: 3, no: 2 } });
      const counted = {
        start: new Date().toISOString(),
        stop: new Date().toISOString(),
        counts: { checkout: { yes: 1, no: 0 } },
      };
      await flags.reportMetrics({ application: 'web', ...counted });
      expect(await hourIn(flags)).toEqual({ checkout: { yes: 4, no: 2 } });
    });

    it('is summed over the environments', async () => {
      const flags = await adasCheckout(start);
      flags.isEnabled('checkout', { userId: 'ada' });
      flags.isEnabled('checkout', { userId: 'ada' }, { environment: 'development' });
      await recorded(flags, 2);
      expect(await hourIn(flags)).toEqual({ checkout: { yes: 1, no: 1 } });
    });

    it('continues when the flag changes, and keeps earlier counts', async () => {
      const flags = await adasCheckout(start);
      flags.isEnabled('checkout', { userId: 'ada' });
      const pinned = flags.forContext({ userId: 'ada' });
      await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
      flags.isEnabled('checkout', { userId: 'ada' });
      pinned.isEnabled('checkout');
      await recorded(flags, 3);
      expect(await hourIn(flags)).toEqual({ checkout: { yes: 3, no: 0 } });
    });

    it('has the name and instance of the application, with the strategies it evaluates', async () => {
      const strategies = [{ name: 'weekend', isEnabled: () => true }];
      const flags = await adasCheckout(start, {
        usage: { ...OFTEN.usage, application: 'shop', instance: 'shop-1' },
        strategies,
      });
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      const application = await flags.applications.get({ application: 'shop' });
      expect(application.instances).toMatchObject([{ id: 'shop-1' }]);
      expect(application.seenFlags).toEqual(['checkout']);
      expect(application.strategies).toEqual(expect.arrayContaining(['default', 'flexibleRollout', 'weekend']));
      expect((await flags.usage.listSeenFlags()).items).toEqual([
        { application: 'shop', flags: ['checkout'], evaluations: 1 },
      ]);
    });

    it('is recorded for the application default and this process without an application name', async () => {
      const flags = await adasCheckout(start);
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      const { instances } = await flags.applications.get({ application: 'default' });
      expect(instances).toMatchObject([{ id: expect.stringMatching(new RegExp(`-${process.pid}$`)) }]);
    });

    it('changes when the flag was last seen, and not its revision', async () => {
      const clock = settableClock();
      const flags = await adasCheckout(start, { now: clock.now });
      const { revision, lastSeenAt } = await flags.getFlag(CHECKOUT);
      expect(lastSeenAt).toBeNull();
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      expect(await flags.getFlag(CHECKOUT)).toMatchObject({ revision, lastSeenAt: clock.text() });
    });

    it('counts names without a live flag, but neither explanations nor configurations', async () => {
      const flags = await adasCheckout(start);
      flags.isEnabled('none', {}, { fallback: true });
      flags.getVariant('none');
      flags.explain('checkout');
      flags.configuration();
      await flags.archiveFlag(CHECKOUT);
      flags.isEnabled('checkout');
      await createSwitchedOn(flags, { flag: 'known' });
      flags.isEnabled('known');
      await recorded(flags, 4);
      const expected = { known: { yes: 1, no: 0 }, none: { yes: 1, no: 1 }, checkout: { yes: 0, no: 1 } };
      expect(await hourIn(flags)).toEqual(expected);
    });

    it('counts a parent only when it was evaluated itself', async () => {
      const flags = await adasCheckout(start);
      await createSwitchedOn(flags, { flag: 'child' });
      await flags.addDependency({ ...DEFAULT, flag: 'child' }, { flag: 'checkout' });
      flags.isEnabled('child', { userId: 'ada' });
      await recorded(flags, 1);
      expect(await hourIn(flags)).toEqual({ child: { yes: 1, no: 0 } });
    });

    it('is dropped from the metrics when it is old, without any client reports', async () => {
      const clock = settableClock();
      const flags = await adasCheckout(start, {
        now: clock.now,
        usage: { ...OFTEN.usage, application: 'early', retention: HOUR },
      });
      flags.isEnabled('checkout');
      await recorded(flags, 1);
      const counted = { start: clock.text(), stop: clock.text(), counts: { gone: { yes: 1, no: 0 } } };
      await flags.reportMetrics({ application: 'web', ...counted });
      clock.advance(3 * HOUR);
      flags.isEnabled('checkout');
      await until(async () =>
        (await flags.usage.listSeenFlags()).items.every(({ application }) => application !== 'web'),
      );
      expect((await flags.usage.listSeenFlags()).items.map(({ application }) => application)).toEqual(['early']);
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

describe('recording usage', () => {
  const FAILURE = new Error('The disk is gone.');
  const START = new Date('2026-03-01T12:00:00.000Z');

  /** A recorder that only the test flushes, with usage that can fail before it records anything. */
  function recording(options: Partial<UsageOptions> = {}) {
    const stored = memoryUsage();
    const errors: unknown[] = [];
    let counted: FlagCount[] = [];
    const usage = faultyUsage(stored);
    const now = () => START;
    const writer = createUsageWriter({
      ...{ usage, isFlag: () => true, now, retention: 1e12 },
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

  it('reports a failure once, and again only after a success in between', async () => {
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

  it('reports lost counts if the last attempt fails during close', async () => {
    const { recorder, usage, errors, count } = recording();
    usage.inject({ method: 'record', error: FAILURE });
    count(on('checkout'));
    await recorder.flush();
    await recorder.close();
    expect(errors).toEqual([FAILURE, FAILURE]);
  });

  it('neither writes nor registers while nothing was counted', async () => {
    const { recorder, stored } = recording();
    await recorder.flush();
    expect(await stored.applications({})).toEqual([]);
  });

  it('records counts once if two flushes run at the same time', async () => {
    const { recorder, stored, count } = recording();
    count(on('checkout', 5));
    await Promise.all([recorder.flush(), recorder.flush(), recorder.close()]);
    expect(await countsIn(stored)).toEqual([on('checkout', 5)]);
  });

  it('drops the waiting counts of a deleted flag, also while they are being recorded', async () => {
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

  it('keeps one pair of numbers for a flag, however long recording fails', async () => {
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

describe('the counts of a flag', () => {
  async function countedAfter(change: 'archived' | 'deleted') {
    const usage = memoryUsage();
    const flags = await openFlags({
      storage: withUsage(memoryStorage(), usage),
      usage: { interval: 0 },
      pollInterval: 0,
    });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    flags.isEnabled('checkout');
    await flags.archiveFlag({ ...DEFAULT, flag: 'checkout' });
    if (change === 'deleted') {
      await flags.deleteFlag({ flag: 'checkout' });
      await flags.createFlag(DEFAULT, { name: 'checkout' });
    }
    await flags.close();
    return usage.sum({ resolution: 'minute', by: ['flag'] });
  }

  it('are still recorded when it is archived', async () => {
    expect(await countedAfter('archived')).toEqual([{ flag: 'checkout', yes: 0, no: 1 }]);
  });

  it('are not added to a later flag of its name when it is deleted', async () => {
    expect(await countedAfter('deleted')).toEqual([]);
  });

  it('are not added to a later flag of its name if they could not be recorded before', async () => {
    const kept = memoryUsage();
    const usage = faultyUsage(kept);
    const failing = usage.inject({ method: 'record' });
    const onError = () => undefined;
    const flags = await openFlags({
      storage: withUsage(memoryStorage(), usage),
      usage: { interval: 1 },
      pollInterval: 0,
      onError,
    });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    flags.isEnabled('checkout');
    await until(() => failing.strikes() > 0);
    await flags.archiveFlag({ ...DEFAULT, flag: 'checkout' });
    await flags.deleteFlag({ flag: 'checkout' });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    usage.heal();
    await flags.close();
    expect(await kept.sum({ resolution: 'minute', by: ['flag'] })).toEqual([]);
  });
});

const ADA = { userId: 'ada' };

async function observed(start: Start) {
  const errors: unknown[] = [];
  const flags = await start({ ...SILENT, onError: (error) => errors.push(error) });
  await createSwitchedOn(flags, { flag: 'checkout' });
  await createSwitchedOn(flags, { flag: 'unobserved' });
  await flags.updateFlag(CHECKOUT, { impressionData: true });
  return { flags, errors };
}

function recordIn(flags: Flags): readonly Impression[] {
  const impressions: Impression[] = [];
  flags.onImpression((impression) => impressions.push(impression));
  return impressions;
}

onEveryStorage((start) => {
  describe('impressions', () => {
    it('report evaluations of a flag with impression data: environment, context and result', async () => {
      const { flags } = await observed(start);
      const impressions = recordIn(flags);
      flags.isEnabled('checkout', ADA);
      flags.isEnabled('checkout', ADA, { environment: 'development' });
      expect(impressions).toEqual([
        { flag: 'checkout', context: ADA, enabled: true, environment: 'production' },
        { flag: 'checkout', context: ADA, enabled: false, environment: 'development' },
      ]);
    });

    it('contain the variant if it was requested', async () => {
      const { flags } = await observed(start);
      await flags.setVariants(CHECKOUT, [{ name: 'blue' }]);
      const impressions = recordIn(flags);
      const variant = flags.getVariant('checkout', ADA);
      expect(impressions).toMatchObject([{ flag: 'checkout', variant: { name: 'blue' } }]);
      expect(impressions[0]?.variant).toBe(variant);
    });

    it('are sent during the call, also from pinned contexts', async () => {
      const { flags } = await observed(start);
      const impressions = recordIn(flags);
      const pinned = flags.forContext(ADA);
      pinned.isEnabled('checkout');
      expect(impressions).toHaveLength(1);
      pinned.getVariant('checkout');
      expect(impressions).toHaveLength(2);
    });

    it('are not sent for flags without the setting, for unknown flags, or for explanations', async () => {
      const { flags } = await observed(start);
      const impressions = recordIn(flags);
      flags.isEnabled('unobserved', ADA);
      flags.isEnabled('none', ADA, { fallback: true });
      flags.explain('checkout', ADA);
      flags.forContext(ADA).evaluateAll();
      expect(impressions).toEqual([]);
    });

    it('end when the listener is removed; removing it again does not end others', async () => {
      const { flags } = await observed(start);
      const told: string[] = [];
      const listener = () => void told.push('same');
      const stop = flags.onImpression(listener);
      flags.onImpression(listener);
      flags.isEnabled('checkout');
      expect(told).toHaveLength(2);
      stop();
      stop();
      flags.isEnabled('checkout');
      expect(told).toHaveLength(3);
    });

    it('reach the other listeners, and do not change the result, when one throws', async () => {
      const { flags, errors } = await observed(start);
      const failure = new Error('The listener failed.');
      flags.onImpression(() => {
        throw failure;
      });
      const impressions = recordIn(flags);
      expect(flags.isEnabled('checkout', ADA)).toBe(true);
      expect(flags.getVariant('checkout', ADA).flagEnabled).toBe(true);
      expect(impressions).toHaveLength(2);
      expect(errors).toEqual([failure, failure]);
    });

    it('reach a listener that was added through another actor', async () => {
      const { flags } = await observed(start);
      const impressions = recordIn(flags.as('ada'));
      await flags.addStrategy(DEVELOPMENT, { name: 'default' });
      flags.isEnabled('checkout');
      expect(impressions).toHaveLength(1);
    });

    it('may evaluate in the listener', async () => {
      const { flags } = await observed(start);
      const answers: boolean[] = [];
      flags.onImpression(() => answers.push(flags.isEnabled('unobserved')));
      flags.isEnabled('checkout');
      await flags.disable({ ...DEFAULT, flag: 'unobserved', environment: 'production' });
      flags.isEnabled('checkout');
      expect(answers).toEqual([true, false]);
    });
  });
});
