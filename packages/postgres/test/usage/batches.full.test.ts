import { randomUUID } from 'node:crypto';
import type { ApplicationRegistration, Storage, UsageBatch, UsageReport, UsageStorage } from '@flags/core';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { recordedPool } from '../recorded-pool.js';

const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
const database = ownDatabase();
const asked: string[] = [];
let storage: Storage;
let usage: UsageStorage;

beforeAll(async () => {
  const pool = recordedPool(database.pool(), ({ text }) => void asked.push(text));
  storage = await postgresStorage({ pool, listen: false });
  usage = storage.usage as UsageStorage;
});
afterAll(() => storage.close());
beforeEach(() => {
  asked.length = 0;
});

const writes = () => asked.filter((text) => /INSERT INTO "public"\."flags_usage_batches"/.test(text)).length;

function registration(application: string, more: Partial<ApplicationRegistration> = {}): ApplicationRegistration {
  return { application, instance: { id: 'one' }, strategies: ['default'], ...more };
}

function report(application: string): UsageReport {
  return { application, instance: { id: 'one' }, stop: NOW, counts: [{ flag: 'checkout', yes: 2, no: 1 }] };
}

const record = (batch: Pick<UsageBatch, 'registrations' | 'reports'>) =>
  usage.record({ id: randomUUID(), at: NOW, ...batch });

describe('batches that are recorded at the same time', () => {
  it('are stored by one statement: reports, registrations, and both together', async () => {
    await Promise.all([
      record({ reports: [report('shop')] }),
      record({ registrations: [registration('desk', { description: 'Help desk' })] }),
      record({ reports: [report('till')], registrations: [registration('till', { color: 'red' })] }),
      record({ registrations: [registration('desk', { strategies: ['userWithId'] })] }),
    ]);
    expect(writes()).toBe(1);
    expect(await usage.sum({ resolution: 'minute', by: ['flag'] })).toEqual([{ flag: 'checkout', yes: 4, no: 2 }]);
    expect(await usage.applications({})).toMatchObject([
      { name: 'desk', strategies: ['userWithId'], description: 'Help desk' },
      { name: 'shop', strategies: [] },
      { name: 'till', strategies: ['default'], color: 'red' },
    ]);
  });

  it('count those once that were recorded before', async () => {
    const [known, other] = [randomUUID(), randomUUID()];
    const batch = (id: string) => ({ id, at: NOW, reports: [report('repeated')] });
    await usage.record(batch(known));
    await Promise.all([batch(known), batch(other), batch(other)].map((one) => usage.record(one)));
    const query = { resolution: 'ever', by: ['flag', 'application'], application: 'repeated' } as const;
    expect(await usage.sum(query)).toMatchObject([{ yes: 4, no: 2 }]);
  });

  it('make several statements if their texts are long', async () => {
    const description = 'x'.repeat(60_000);
    const names = Array.from({ length: 20 }, (_, number) => `long-${number}`);
    await Promise.all(names.map((name) => record({ registrations: [registration(name, { description })] })));
    expect(writes()).toBeGreaterThan(5);
    const found = await usage.applications({ names });
    expect(found.map((application) => application.description.length)).toEqual(names.map(() => description.length));
  });
});
