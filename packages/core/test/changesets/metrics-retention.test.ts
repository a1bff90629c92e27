import { createFlags } from '../../src/create-flags.js';
import { memoryMetrics } from '../../src/storage/memory/metrics.js';
import { memoryStorage } from '../../src/storage/memory/storage.js';
import type { MetricsStorage } from '../../src/storage/metrics-port.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** An engine with a clock that is set, and the real metrics it prunes. */
async function running(metrics: MetricsStorage = memoryMetrics()) {
  let time = Date.parse('2026-03-01T00:00:00.000Z');
  const pruned: Parameters<MetricsStorage['prune']>[0][] = [];
  const errors: unknown[] = [];
  const observed: MetricsStorage = {
    ...metrics,
    prune: (limits) => {
      pruned.push(limits);
      return metrics.prune(limits);
    },
  };
  const options = { now: () => new Date(time), applicationRetention: 2 * DAY, onError: (e: unknown) => errors.push(e) };
  const flags = await createFlags({ storage: memoryStorage(), metrics: observed, ...options });
  const report = (appName: string) => {
    const at = new Date(time).toISOString();
    return flags.reportMetrics({ appName, bucket: { start: at, stop: at, toggles: { checkout: { yes: 1, no: 0 } } } });
  };
  return { flags, report, pruned, errors, now: () => time, advance: (span: number) => (time += span) };
}

/** Before these, hours and days are deleted. */
function periodsBefore(now: number) {
  return { hoursBefore: now - (now % HOUR) - 167 * HOUR, daysBefore: now - (now % DAY) - 29 * DAY };
}

describe('metrics', () => {
  it('are pruned by the first report, and by the first after every hour', async () => {
    const { report, pruned, now, advance } = await running();
    await Promise.all([report('web'), report('web')]);
    expect(pruned).toEqual([
      {
        countersUntil: now() - HOUR,
        unseenSince: now() - 2 * DAY,
        ...periodsBefore(now()),
        isFlag: expect.any(Function),
      },
    ]);
    advance(HOUR - 1);
    await report('web');
    expect(pruned).toHaveLength(1);
    advance(1);
    await Promise.all([report('web'), report('web')]);
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
    expect(['checkout', 'archived', 'unknown'].map((name) => pruned[0]?.isFlag(name))).toEqual([true, true, false]);
  });

  it('are taken even when they cannot be pruned, and the host is told', async () => {
    const fault = new Error('disk');
    const { flags, report, errors } = await running({
      ...memoryMetrics(),
      prune: () => Promise.reject(fault),
    });
    await report('web');
    expect(errors).toEqual([fault]);
    expect(await flags.listSeenFlags()).toMatchObject([{ appName: 'web', metricsCount: 1 }]);
  });
});
