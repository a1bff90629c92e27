import type { FlagsStorage } from '@flags/core';
import { Pool } from 'pg';
import { until } from '../../../../test/until.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase, ownServer } from '../own-database.js';
import { change, flag, subjectsAfter } from '../samples.js';

const UNAVAILABLE = { name: 'FlagsError', code: 'storage_unavailable' };
const database = ownDatabase();
const pools: Pool[] = [];

function poolOf(options: ConstructorParameters<typeof Pool>[0]): Pool {
  const pool = new Pool({ connectionString: database.url(), ...options });
  pool.on('error', () => undefined);
  pools.push(pool);
  return pool;
}

let schemas = 0;
function open(pool: Pool): Promise<FlagsStorage> {
  schemas += 1;
  return postgresStorage({ pool, schema: `fault_${schemas}`, listen: false });
}

afterAll(() => Promise.all(pools.map((pool) => pool.end())));

/** The backends that wait for a lock. */
async function waiting(): Promise<number[]> {
  const rows = await database.ask(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rows.map(({ pid }) => Number(pid));
}

/** Makes the database fail the first writes to the documents of the last opened storage. */
async function failFirst(state: string, times: number): Promise<void> {
  const schema = `fault_${schemas}`;
  // A rollback does not undo a sequence.
  await database.ask(`
    CREATE SEQUENCE ${schema}.writes;
    CREATE FUNCTION ${schema}.fail() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF nextval('${schema}.writes') <= ${times} THEN
          RAISE EXCEPTION 'this write fails' USING ERRCODE = '${state}';
        END IF;
        RETURN NULL;
      END $$;
    CREATE TRIGGER failing BEFORE INSERT ON ${schema}.flags_documents
      FOR EACH STATEMENT EXECUTE FUNCTION ${schema}.fail()`);
}

describe('a fault', () => {
  it('leaves nothing behind when a connection is ended in the middle of a commit', async () => {
    const pool = poolOf({ max: 2 });
    const storage = await open(pool);
    await storage.commit(change('checkout'));
    const other = await database.pool().connect();
    await other.query(`BEGIN; SELECT FROM fault_${schemas}.flags_documents FOR UPDATE`);
    const commit = storage.commit(change('checkout', 1));
    const refused = expect(commit).rejects.toMatchObject(UNAVAILABLE);
    await until(async () => (await waiting()).length === 1);
    for (const pid of await waiting()) await database.ask('SELECT pg_terminate_backend($1)', [pid]);
    await refused;
    await other.query('ROLLBACK');
    other.release();
    expect((await storage.get(flag('checkout')))?.revision).toBe(1);
    expect(await storage.commit(change('checkout', 1))).toEqual({ ok: true, revisions: [2] });
    expect(await subjectsAfter(storage)).toEqual(['checkout', 'checkout']);
  });

  it('returns its clients to the host’s pool outside of any transaction', async () => {
    const pool = poolOf({ max: 1 });
    const storage = await open(pool);
    await storage.commit(change('checkout'));
    expect(await storage.commit(change('checkout', 7))).toEqual({ ok: false, conflict: flag('checkout') });
    const { rows } = await pool.query(
      'SELECT pg_current_xact_id_if_assigned() AS id, now() = statement_timestamp() AS fresh',
    );
    expect(rows).toEqual([{ id: null, fresh: true }]);
  });

  it('reports that the pool has no free connection, and returns the one that comes too late', async () => {
    const pool = poolOf({ max: 1 });
    // The first storage creates the tables, and leaves a connection in the pool: the second one needs to wait for neither.
    await open(pool);
    const schema = `fault_${schemas}`;
    const storage = await postgresStorage({ pool, schema, listen: false, connectTimeout: 500 });
    const client = await pool.connect();
    await expect(storage.get(flag('checkout'))).rejects.toMatchObject(UNAVAILABLE);
    client.release();
    expect(await storage.get(flag('checkout'))).toBeUndefined();
    expect(pool.waitingCount).toBe(0);
  });

  it('refuses writes and continues to read while the database is read-only', async () => {
    const pool = poolOf({ max: 2 });
    const storage = await open(pool);
    await storage.commit(change('checkout'));
    const readOnly = poolOf({ options: '-c default_transaction_read_only=on' });
    const reader = await postgresStorage({ pool: readOnly, schema: `fault_${schemas}`, listen: false });
    await expect(reader.commit(change('checkout', 1))).rejects.toMatchObject(UNAVAILABLE);
    expect((await reader.get(flag('checkout')))?.revision).toBe(1);
    expect(await subjectsAfter(reader)).toEqual(['checkout']);
  });

  it.each(['40001', '40P01'])(
    'is retried where the database aborts a commit in favor of another (%s)',
    async (state) => {
      const storage = await open(poolOf({}));
      await failFirst(state, 3);
      expect(await storage.commit(change('checkout'))).toEqual({ ok: true, revisions: [1] });
      expect(await subjectsAfter(storage)).toEqual(['checkout']);
    },
  );

  it('is reported as contention when that does not end', async () => {
    const storage = await open(poolOf({}));
    await failFirst('40001', 1000);
    await expect(storage.commit(change('checkout'))).rejects.toMatchObject({ code: 'storage_busy' });
    expect(await storage.get(flag('checkout'))).toBeUndefined();
  });

  it.each(['53100', '53300', '57P03', '58030'])(
    'leaves everything unchanged where the database gives up (%s)',
    async (state) => {
      const storage = await open(poolOf({}));
      await failFirst(state, 1);
      await expect(storage.commit(change('checkout'))).rejects.toMatchObject(UNAVAILABLE);
      expect(await storage.commit(change('checkout'))).toEqual({ ok: true, revisions: [1] });
    },
  );

  it.each([
    ['that does not exist', { connectionString: 'postgres:///nowhere' }, 'storage_unsupported'],
    ['of a user that does not exist', { user: 'nobody' }, 'storage_unsupported'],
    ['of a server that is not there', { port: 1 }, 'storage_unavailable'],
  ])('is reported when a storage is opened on a database %s', async (_name, wrong, code) => {
    const url = new URL(database.url());
    if ('connectionString' in wrong) url.pathname = '/nowhere';
    if ('user' in wrong) url.username = 'nobody';
    if ('port' in wrong) url.port = '1';
    await expect(postgresStorage(url.href)).rejects.toMatchObject({ name: 'FlagsError', code });
  });
});

async function works(call: () => unknown): Promise<boolean> {
  try {
    await call();
    return true;
  } catch {
    return false;
  }
}

describe('a server that becomes unavailable', () => {
  const own = ownServer();

  it('is used again without a restart once it is back, and keeps every acknowledged change', async () => {
    const storage = await postgresStorage({ connectionString: own.url(), listen: false });
    await storage.commit(change('before'));
    await own.server().stop('immediate');
    await expect(storage.commit(change('meanwhile'))).rejects.toMatchObject(UNAVAILABLE);
    await expect(storage.get(flag('before'))).rejects.toMatchObject(UNAVAILABLE);
    await own.server().start();
    await until(() => works(() => storage.commit(change('after'))));
    expect(await subjectsAfter(storage)).toEqual(['before', 'after']);
    await storage.close();
  });

  it('does not delay callers when it stops answering', async () => {
    const times = { connectTimeout: 1_000, queryTimeout: 500 };
    const storage = await postgresStorage({ connectionString: own.url(), listen: false, ...times });
    await storage.get(flag('before'));
    await own.server().suspend();
    await expect(storage.get(flag('before'))).rejects.toMatchObject(UNAVAILABLE);
    await expect(storage.commit(change('meanwhile'))).rejects.toMatchObject(UNAVAILABLE);
    own.server().resume();
    await until(() => works(() => storage.get(flag('before'))));
    await storage.close();
  });
});
