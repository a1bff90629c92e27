import { randomUUID } from 'node:crypto';
import type { ApplicationRegistration, Storage, UsageStorage } from '@flags/core';
import { type FreshDatabase, freshDatabase } from '@flags/test-postgres';
import { Pool } from 'pg';
import { postgresStorage } from '../../src/index.js';
import { databaseError, interferedPool } from '../interfered-pool.js';

const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
const REPORT = {
  application: 'shop',
  instance: { id: 'shop-1' },
  stop: NOW,
  counts: [{ flag: 'checkout', yes: 2, no: 1 }],
};

describe('a report whose answer is lost', () => {
  let database: FreshDatabase;
  let pool: Pool;
  let storage: Storage;
  let usage: UsageStorage;
  /** Replace the next answers to writes. */
  const errors: Error[] = [];
  const lost = () => new Error('Connection terminated unexpectedly');

  beforeAll(async () => {
    database = await freshDatabase();
    pool = new Pool({ connectionString: database.url });
    // Dropping the database ends connections that the pool has not quite closed.
    pool.on('error', () => undefined);
    const interfered = interferedPool(pool, ({ text }) => {
      const error = text.includes('INSERT') ? errors.shift() : undefined;
      if (error) throw error;
    });
    storage = await postgresStorage({ pool: interfered, listen: false, outcomeTimeout: 1000 });
    usage = storage.usage as UsageStorage;
  });
  afterAll(async () => {
    await storage.close();
    await pool.end();
    await database.drop();
  });

  const record = (registrations: readonly ApplicationRegistration[] = []) =>
    usage.record({ id: randomUUID(), at: NOW, registrations, reports: [REPORT] });
  const counts = () => usage.sum({ resolution: 'minute', by: ['flag'] });

  it('counts once', async () => {
    errors.push(lost(), lost());
    await record();
    expect(errors).toEqual([]);
    expect(await counts()).toEqual(REPORT.counts);
  });

  it('counts beside another one that is the same', async () => {
    errors.push(lost());
    await record();
    expect(await counts()).toEqual([{ flag: 'checkout', yes: 4, no: 2 }]);
  });

  it('counts once together with registrations', async () => {
    errors.push(lost(), lost());
    const registration = { application: 'new', instance: { id: 'n' }, strategies: ['default'] };
    await record([registration]);
    expect(errors).toEqual([]);
    expect(await counts()).toEqual([{ flag: 'checkout', yes: 6, no: 3 }]);
    expect(await usage.applications({ names: ['new'] })).toMatchObject([{ strategies: ['default'] }]);
  });

  it('counts once together with another report of its batch', async () => {
    errors.push(lost());
    await Promise.all([record(), record()]);
    expect(errors).toEqual([]);
    expect(await counts()).toEqual([{ flag: 'checkout', yes: 10, no: 5 }]);
  });

  it('counts once when the repetition finds the database busy', async () => {
    errors.push(lost(), databaseError('55P03', 'canceling statement due to lock timeout'));
    await record();
    expect(await counts()).toEqual([{ flag: 'checkout', yes: 12, no: 6 }]);
  });

  it('has an unknown outcome, and is not sent again under another id, when the repetition is refused', async () => {
    errors.push(lost(), databaseError('XX001', 'data corrupted'));
    const both = await Promise.allSettled([record(), record()]);
    expect(both).toEqual(
      [1, 2].map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'outcome_unknown' }) })),
    );
    expect(await counts()).toEqual([{ flag: 'checkout', yes: 16, no: 8 }]);
  });
});
