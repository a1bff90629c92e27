import { createFlags } from '../../src/create-flags.js';
import { memoryUsage } from '../../src/storage/memory/memory-usage.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { UsageStorage } from '../../src/storage/usage-port.js';
import { NOTHING_DROPPED } from '../../src/storage/usage-rules.js';
import { batchesOf, createUsageWriter } from '../../src/usage/usage-writer.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An engine with a clock that is set, and the real usage it prunes. */
async function running(usage: UsageStorage = memoryUsage()) {
  let time = Date.parse('2026-03-01T00:00:00.000Z');
  const pruned: Parameters<UsageStorage['prune']>[0][] = [];
  const errors: unknown[] = [];
  const observed: UsageStorage = {
    ...usage,
    prune: (limits) => {
      pruned.push(limits);
      return usage.prune(limits);
    },
  };
  const options = { now: () => new Date(time), applicationRetention: 2 * DAY, onError: (e: unknown) => errors.push(e) };
  const flags = await createFlags({ storage: memoryStorage(), usage: observed, ...options });
  const report = (appName: string) => {
    const at = new Date(time).toISOString();
    return flags.reportMetrics({ appName, bucket: { start: at, stop: at, toggles: { checkout: { yes: 1, no: 0 } } } });
  };
  return { flags, report, pruned, errors, now: () => time, advance: (span: number) => (time += span) };
}

describe('usage', () => {
  it('is pruned by the first report of a process, and by the first after every minute', async () => {
    const { report, pruned, now, advance } = await running();
    await Promise.all([report('web'), report('web')]);
    const unseen = { since: now() - 2 * DAY, isFlag: expect.any(Function) };
    expect(pruned).toEqual([{ now: now(), unseen }]);
    advance(MINUTE - 1);
    await report('web');
    expect(pruned).toHaveLength(1);
    advance(1);
    await Promise.all([report('web'), report('web')]);
    expect(pruned.slice(1)).toEqual([{ now: now() }]);
  });

  it('is pruned of what was not seen for long once an hour', async () => {
    const { report, pruned, now, advance } = await running();
    await report('web');
    advance(HOUR - 1);
    await report('web');
    advance(MINUTE);
    await report('web');
    expect(pruned.map(({ unseen }) => unseen?.since)).toEqual([
      now() - HOUR + 1 - MINUTE - 2 * DAY,
      undefined,
      now() - 2 * DAY,
    ]);
  });

  it('is pruned after many counts, whatever the time', async () => {
    const pruned: unknown[] = [];
    const usage: UsageStorage = { ...memoryUsage(), record: () => NOTHING_DROPPED };
    const writer = createUsageWriter({
      usage: {
        ...usage,
        prune(retention) {
          pruned.push(retention);
          return NOTHING_DROPPED;
        },
      },
      isFlag: () => true,
      now: () => new Date(0),
      applicationRetention: DAY,
      onError: () => undefined,
    });
    const counts = Array.from({ length: 10_000 }, (_, index) => ({ flag: `flag-${index}`, yes: 1, no: 0 }));
    const report = { application: 'web', instance: { id: '1' }, stop: 0, counts };
    for (let reports = 0; reports < 6; reports++) await writer.record(batchesOf({ at: 0, reports: [report] }));
    expect(pruned).toHaveLength(2);
  });

  it('forget applications that were not seen for as long as configured', async () => {
    const { flags, report, advance } = await running();
    await report('old');
    advance(2 * DAY);
    await report('web');
    expect((await flags.getApplication({ application: 'old' })).appName).toBe('old');
    advance(HOUR);
    await report('web');
    await expect(flags.getApplication({ application: 'old' })).rejects.toMatchObject({ code: 'application_not_found' });
    expect((await flags.getApplication({ application: 'web' })).appName).toBe('web');
  });

  it('keep the reports on existing flags', async () => {
    const { flags, report, pruned } = await running();
    await flags.createFlag({ project: 'default' }, { name: 'checkout' });
    await flags.createFlag({ project: 'default' }, { name: 'archived' });
    await flags.archiveFlag({ project: 'default', flag: 'archived' });
    await report('web');
    expect(['checkout', 'archived', 'unknown'].map((name) => pruned[0]?.unseen?.isFlag(name))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('are taken even when they cannot be pruned, and the host is told', async () => {
    const fault = new Error('disk');
    const { flags, report, errors } = await running({
      ...memoryUsage(),
      prune: () => Promise.reject(fault),
    });
    await report('web');
    expect(errors).toEqual([fault]);
    expect(await flags.listSeenFlags()).toMatchObject([{ appName: 'web', metricsCount: 1 }]);
  });
});
