import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import type { Storage } from '../../../src/storage/port.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { busy, creation, flag } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';

/** The SQLite of Node does not report that the host iterates over a query. */
const itIfReported = process.env.FLAGS_SQLITE === 'node' ? it.skip : it;

describe("work of the host's own on the same handle", () => {
  let database: Database.Database;
  let storage: Storage;

  beforeEach(async () => {
    database = new Database(':memory:');
    database.exec('CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (1), (2), (3)');
    storage = await sqliteStorage({ database });
  });

  afterEach(() => database.close());

  async function someTurns(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await setImmediate();
  }

  it('keeps commits out of an open transaction, so that its rollback does not take them away', async () => {
    database.exec('BEGIN; INSERT INTO orders VALUES (4)');
    let answered = false;
    const commit = Promise.resolve(storage.commit(creation('a'))).finally(() => {
      answered = true;
    });
    await someTurns();
    expect(answered).toBe(false);
    database.exec('ROLLBACK');
    expect(await commit).toEqual({ ok: true, revisions: [1] });
    expect(await storage.get(flag('a'))).toBeDefined();
    expect(database.prepare('SELECT COUNT(*) FROM orders').pluck().get()).toBe(3);
  });

  it('keeps reads waiting while a transaction is open', async () => {
    await storage.commit(creation('a'));
    database.exec('BEGIN');
    const reading = storage.get(flag('a'));
    await someTurns();
    database.exec('COMMIT');
    expect(await reading).toMatchObject({ revision: 1 });
  });

  it('fails with storage_busy when a transaction stays open', async () => {
    const impatient = await sqliteStorage({ database, busyTimeout: 20 });
    database.exec('BEGIN');
    await expect(impatient.commit(creation('a'))).rejects.toMatchObject(busy);
    await expect(impatient.get(flag('a'))).rejects.toMatchObject(busy);
    database.exec('COMMIT');
    expect(await impatient.get(flag('a'))).toBeUndefined();
  });

  itIfReported('lets commits wait for the end of a query that is iterated over', async () => {
    const orders = database.prepare('SELECT id FROM orders').iterate();
    orders.next();
    const commit = storage.commit(creation('a'));
    await someTurns();
    orders.return?.();
    expect(await commit).toEqual({ ok: true, revisions: [1] });
  });

  itIfReported('keeps reads waiting while a query is iterated over', async () => {
    const orders = database.prepare('SELECT id FROM orders').iterate();
    orders.next();
    let answered = false;
    const reading = Promise.resolve(storage.get(flag('a'))).finally(() => {
      answered = true;
    });
    await someTurns();
    expect(answered).toBe(false);
    orders.return?.();
    expect(await reading).toBeUndefined();
  });
});

itIfReported('reads nothing from the old state that a query iterated over keeps, while others write', async () => {
  const directory = temporaryDirectory();
  const path = join(directory.path, 'app.db');
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.exec('CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (1), (2), (3)');
  const storage = await sqliteStorage({ database, busyTimeout: 20 });
  const other = await sqliteStorage(path);
  const before = await storage.dataVersion?.();

  const orders = database.prepare('SELECT id FROM orders').iterate();
  orders.next();
  await other.commit(creation('a'));
  await expect(storage.get(flag('a'))).rejects.toMatchObject({ ...busy, message: expect.stringContaining('iterator') });
  await expect(storage.list({ kind: 'flag', part: 'summary' })).rejects.toMatchObject(busy);
  await expect(storage.dataVersion?.()).rejects.toMatchObject(busy);
  await expect(storage.usage?.sum({ resolution: 'ever', by: ['flag'] })).rejects.toMatchObject(busy);
  orders.return?.();
  expect(await storage.get(flag('a'))).toMatchObject({ revision: 1 });
  expect(await storage.dataVersion?.()).not.toBe(before);

  await other.close();
  database.close();
  directory.remove();
});
