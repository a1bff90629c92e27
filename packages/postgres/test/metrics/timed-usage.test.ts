import type { MetricsStorage } from '@flags/core';
import type { Database } from '../../src/database.js';
import { createMetricsLock } from '../../src/metrics/metrics-lock.js';
import { createUsageTrimming, moveUsage } from '../../src/metrics/timed-usage.js';
import { tableNames } from '../../src/tables.js';
import { ownDatabase } from '../own-database.js';
import { openedMetrics } from './opened-metrics.js';

const HOUR = 3_600_000;
const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
const FLAGS = Array.from({ length: 100 }, (_, index) => `flag-${1000 + index}`);

const database = ownDatabase();
const LOCATION = { schema: 'public', tablePrefix: 'flags_' };
const names = tableNames(LOCATION);
let metrics: MetricsStorage;

beforeAll(async () => {
  metrics = await openedMetrics({ url: database.url(), schema: 'public' });
});
afterAll(() => metrics.close());

describe('timed usage', () => {
  it('drops the oldest rows beyond the limit', async () => {
    const counts = FLAGS.map((flag) => ({ flag, yes: 1, no: 0 }));
    for (let age = 9; age >= 0; age--) {
      const at = NOW - age * HOUR;
      await metrics.record([{ application: 'shop', instance: { id: '1' }, at, stop: at, counts }]);
    }
    const query = async <Row>(text: string, values: readonly unknown[] = []) =>
      (await database.ask(text, [...values])) as Row[];
    const statements = { query } as unknown as Database;
    const options = { database: statements, names, lock: createMetricsLock(statements, LOCATION) };
    const trimming = createUsageTrimming(options, { usage_hours: 250, usage_days: 1000 });
    await database.ask(moveUsage(names, 'true'));
    expect(await trimming.trim()).toBe(750);
    const rows = await metrics.timedUsage({ unit: 'hour', from: 0 });
    expect(rows).toHaveLength(250);
    expect(Math.min(...rows.map(({ start }) => start))).toBe(NOW - 2 * HOUR);
    expect(await trimming.trim()).toBe(0);
  });
});
