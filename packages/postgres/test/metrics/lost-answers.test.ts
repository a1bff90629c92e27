import type { MetricsStorage, Storage } from '@flags/core';
import { type FreshDatabase, freshDatabase } from '@flags/test-postgres';
import { Pool, type PoolClient } from 'pg';
import { type PgPool, postgresStorage } from '../../src/index.js';

const NOW = Date.UTC(2030, 0, 15, 12, 0, 0);
const REPORT = {
  application: 'shop',
  instance: { id: 'shop-1' },
  at: NOW,
  stop: NOW,
  counts: [{ flag: 'checkout', yes: 2, no: 1 }],
};

describe('a report whose answer is lost', () => {
  let database: FreshDatabase;
  let pool: Pool;
  let storage: Storage;
  let metrics: MetricsStorage;
  /** How many answers are lost from now on. */
  const losses = { left: 0 };

  beforeAll(async () => {
    database = await freshDatabase();
    pool = new Pool({ connectionString: database.url });
    storage = await postgresStorage({ pool: losingAnswers(pool, losses) });
    metrics = storage.metrics as MetricsStorage;
  });
  afterAll(async () => {
    await storage.close();
    await pool.end();
    await database.drop();
  });

  it('counts once', async () => {
    losses.left = 2;
    await metrics.record([REPORT]);
    expect(losses.left).toBe(0);
    expect(await metrics.counts({ after: 0 })).toEqual(REPORT.counts);
    expect(await metrics.usage()).toEqual([{ application: 'shop', flag: 'checkout', count: 3 }]);
  });

  it('counts beside another one that is the same', async () => {
    losses.left = 1;
    await metrics.record([REPORT]);
    expect(await metrics.counts({ after: 0 })).toEqual([{ flag: 'checkout', yes: 4, no: 2 }]);
  });

  it('counts once together with registrations', async () => {
    losses.left = 2;
    const registration = { application: 'new', instance: { id: 'n' }, at: NOW, strategies: ['default'] };
    await metrics.record([REPORT], [registration]);
    expect(losses.left).toBe(0);
    expect(await metrics.counts({ after: 0 })).toEqual([{ flag: 'checkout', yes: 6, no: 3 }]);
    expect(await metrics.application('new')).toMatchObject({ strategies: ['default'] });
  });
});

/** Carries statements out, and loses the connection before some of the answers. */
function losingAnswers(pool: Pool, losses: { left: number }): PgPool {
  return Object.assign(Object.create(pool), {
    async connect() {
      const client = await pool.connect();
      return Object.assign(Object.create(client), {
        query: async (query: Parameters<PoolClient['query']>[0]) => {
          const answer = await client.query(query);
          if (losses.left === 0) return answer;
          losses.left--;
          throw new Error('Connection terminated unexpectedly');
        },
      });
    },
  });
}
