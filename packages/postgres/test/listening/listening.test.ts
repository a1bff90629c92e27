import { type FlagsStorage, openFlags } from '@flags/core';
import { Pool } from 'pg';
import { until } from '../../../../test/until.js';
import { postgresStorage } from '../../src/index.js';
import { ownDatabase } from '../own-database.js';
import { recordedPool } from '../recorded-pool.js';
import { change } from '../samples.js';

const database = ownDatabase();
const SILENT = { pollInterval: 0, usage: { interval: 0 } } as const;

/** The ids of backends that listen. */
async function listening(): Promise<unknown[]> {
  const rows = await database.ask(
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'LISTEN%'",
  );
  return rows.map(({ pid }) => pid);
}

describe('listening', () => {
  const opened: FlagsStorage[] = [];
  let schemas = 0;

  async function openTwo(): Promise<[FlagsStorage, FlagsStorage]> {
    schemas += 1;
    const schema = `listening_${schemas}`;
    const one = await postgresStorage({ connectionString: database.url(), schema });
    const other = await postgresStorage({ pool: database.pool(), schema });
    opened.push(one, other);
    return [one, other];
  }

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((storage) => storage.close()));
  });

  it.each([
    ['the storage’s own', 0],
    ['one of the host’s pool', 1],
  ])('receives notifications of other nodes’ commits on a connection, %s', async (_name, listener) => {
    const storages = await openTwo();
    let calls = 0;
    storages[listener]?.watch?.(() => {
      calls += 1;
    });
    await until(() => calls > 0);
    const before = calls;
    await storages[1 - listener]?.commit(change('checkout'));
    await until(() => calls > before);
  });

  it('ignores its own commits', async () => {
    const [one, other] = await openTwo();
    const heard: string[] = [];
    one.watch?.(() => heard.push('one'));
    other.watch?.(() => heard.push('other'));
    await until(() => new Set(heard).size === 2);
    heard.length = 0;
    await one.commit(change('first'));
    await until(() => heard.length > 0);
    expect(heard).toEqual(['other']);
  });

  it('calls when its connection is lost, and again when it is restored', async () => {
    const [one] = await openTwo();
    const listenersAtCalls: Promise<number>[] = [];
    one.watch?.(() => listenersAtCalls.push(listening().then(({ length }) => length)));
    await until(() => listenersAtCalls.length === 1);
    for (const pid of await listening()) await database.ask('SELECT pg_terminate_backend($1)', [pid]);
    await until(() => listenersAtCalls.length === 3);
    expect(await Promise.all(listenersAtCalls)).toEqual([1, 0, 1]);
  });

  it('retries when its database does not answer, and does not delay close', async () => {
    let asked = 0;
    const pool = recordedPool(database.pool(), ({ text }) => {
      if (!text.startsWith('LISTEN')) return;
      asked += 1;
      return new Promise(() => undefined);
    });
    const storage = await postgresStorage({ pool, schema: 'silent', connectTimeout: 500 });
    storage.watch?.(() => undefined);
    await until(() => asked === 2);
    await storage.close();
  });

  it('ends with the last watcher, and releases the connection', async () => {
    const [one] = await openTwo();
    const heard: string[] = [];
    const stops = ['one', 'other'].map((name) => one.watch?.(() => heard.push(name)));
    await until(() => heard.length > 0);
    for (const stop of stops) stop?.();
    await until(async () => (await listening()).length === 0);
  });

  it('updates the evaluation of other nodes without polling', async () => {
    const [one, other] = await openTwo();
    const writer = await openFlags({ storage: one, ...SILENT });
    const reader = await openFlags({ storage: other, ...SILENT });
    await writer.createFlag({ project: 'default' }, { name: 'checkout' });
    await writer.addStrategy({ project: 'default', flag: 'checkout', environment: 'production' }, { name: 'default' });
    await writer.enable({ project: 'default', flag: 'checkout', environment: 'production' });
    await until(() => reader.isEnabled('checkout'));
    await Promise.all([writer.close(), reader.close()]);
  });

  it('is skipped if the pool has only one connection, and refused if the host requires it', async () => {
    const pool = new Pool({ connectionString: database.url(), max: 1 });
    const alone = await postgresStorage({ pool, schema: 'alone' });
    expect(alone.watch).toBeUndefined();
    await expect(postgresStorage({ pool, schema: 'alone', listen: true })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await alone.close();
    await pool.end();
  });
});
