import type { ApplicationRegistration, MetricsStorage, Storage } from '@flags/core';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { recordedPool } from '../recorded-pool.js';

const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
const database = ownDatabase();
const asked: string[] = [];
let storage: Storage;
let metrics: MetricsStorage;

beforeAll(async () => {
  const pool = recordedPool(database.pool(), ({ text }) => void asked.push(text));
  storage = await postgresStorage({ pool, listen: false });
  metrics = storage.metrics as MetricsStorage;
});
afterAll(() => storage.close());
beforeEach(() => {
  asked.length = 0;
});

const writes = () => asked.filter((text) => text.includes('metrics_writes')).length;

function registration(application: string, more: Partial<ApplicationRegistration> = {}): ApplicationRegistration {
  return { application, instance: { id: 'one' }, at: NOW, strategies: ['default'], ...more };
}

function report(application: string) {
  const counts = [{ flag: 'checkout', yes: 2, no: 1 }];
  return { application, instance: { id: 'one' }, at: NOW, stop: NOW, counts };
}

describe('calls that write metrics at the same time', () => {
  it('are stored by one statement: reports, registrations, and both together', async () => {
    await Promise.all([
      metrics.record([report('shop')]),
      metrics.register(registration('desk', { description: 'Help desk' })),
      metrics.record([report('till')], [registration('till', { color: 'red' })]),
      metrics.register(registration('desk', { strategies: ['userWithId'] })),
    ]);
    expect(writes()).toBe(1);
    expect(await metrics.counts({ after: 0 })).toEqual([{ flag: 'checkout', yes: 4, no: 2 }]);
    expect(await metrics.application('shop')).toMatchObject({ strategies: [], flags: ['checkout'] });
    expect(await metrics.application('desk')).toMatchObject({ strategies: ['userWithId'], description: 'Help desk' });
    expect(await metrics.application('till')).toMatchObject({ strategies: ['default'], color: 'red' });
  });

  it('make several statements if their texts are long', async () => {
    const description = 'x'.repeat(60_000);
    const names = Array.from({ length: 20 }, (_, number) => `long-${number}`);
    await Promise.all(names.map((name) => metrics.register(registration(name, { description }))));
    expect(writes()).toBeGreaterThan(5);
    expect((await sizes(names)).every((size) => size === description.length)).toBe(true);
  });

  async function sizes(names: readonly string[]): Promise<number[]> {
    const found = await metrics.applications({ seenSince: 0, names });
    expect(found).toHaveLength(names.length);
    return found.map((application) => application.description.length);
  }
});
