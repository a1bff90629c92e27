import type { Storage } from '@flags/core';
import { Pool, type PoolClient } from 'pg';
import { until } from '../../../../test/until.js';
import { type PgPool, postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { change, flag, subjectsAfter } from '../samples.js';

const database = ownDatabase();

describe('a node that stalls before its COMMIT', () => {
  let pool: Pool;
  let stalling: Storage;
  let other: Storage;
  const stall: { isReached: boolean; goOn?: () => void } = { isReached: false };

  beforeAll(async () => {
    pool = new Pool({ connectionString: database.url() });
    pool.on('error', () => undefined);
    const place = { schema: 'stalled', listen: false };
    other = await postgresStorage({ connectionString: database.url(), ...place });
    await other.commit(change('checkout'));
    stalling = await postgresStorage({ pool: stallingPool(), ...place, queryTimeout: 1_000 });
  });
  afterAll(async () => {
    await Promise.all([stalling.close(), other.close()]);
    await pool.end();
  });

  /** Delays COMMIT until `goOn` is called. The database does not know that the client waits. */
  function stallingPool(): PgPool {
    return Object.assign(Object.create(pool), {
      async connect() {
        const client = await pool.connect();
        return Object.assign(Object.create(client), { query: stalledQuery(client) });
      },
    });
  }

  function stalledQuery(client: PoolClient) {
    return async (query: { readonly text: string }) => {
      if (query.text === 'COMMIT') {
        stall.isReached = true;
        await new Promise<void>((resolve) => {
          stall.goOn = resolve;
        });
      }
      return client.query(query);
    };
  }

  it('does not keep others from the document, and is told that nothing has changed', async () => {
    const stalled = stalling.commit(change('checkout', 1));
    const refused = expect(stalled).rejects.toMatchObject({ code: 'storage_unavailable' });
    await until(() => stall.isReached);
    expect(await other.commit(change('checkout', 1))).toEqual({ ok: true, revisions: [2] });
    stall.goOn?.();
    await refused;
    expect((await other.get(flag('checkout')))?.revision).toBe(2);
    expect(await subjectsAfter(other)).toEqual(['checkout', 'checkout']);
  });
});
