import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { busy, creation, flag } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';

describe('a locked SQLite database', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let path: string;
  let other: Database.Database;

  beforeEach(() => {
    directory = temporaryDirectory();
    path = join(directory.path, 'flags.db');
    other = new Database(path);
  });

  afterEach(() => {
    other.close();
    directory.remove();
  });

  /** A storage on a handle that does not wait by itself, and how often it has tried to begin a transaction. */
  async function observedStorage(busyTimeout = 60_000) {
    let attempts = 0;
    const verbose = (sql: unknown) => {
      if (sql === 'BEGIN IMMEDIATE') attempts += 1;
    };
    const database = new Database(path, { timeout: 0, verbose });
    const storage = await sqliteStorage({ database, busyTimeout });
    attempts = 0;
    return { storage, database, attempts: () => attempts };
  }

  async function attempted(times: number, attempts: () => number): Promise<void> {
    const deadline = performance.now() + 4_000;
    while (attempts() < times && performance.now() < deadline) await setImmediate();
    expect(attempts()).toBeGreaterThanOrEqual(times);
  }

  it('is written to as soon as the lock is released', async () => {
    other.pragma('journal_mode = WAL');
    const { storage, database, attempts } = await observedStorage();
    other.exec('BEGIN IMMEDIATE');
    const commits = [storage.commit(creation('a')), storage.commit(creation('b'))];
    await attempted(3, attempts);
    expect(await storage.get(flag('a'))).toBeUndefined();
    other.exec('ROLLBACK');
    expect((await Promise.all(commits)).map(({ ok }) => ok)).toEqual([true, true]);
    database.close();
  });

  it('fails with storage_busy after busyTimeout, and has changed nothing', async () => {
    const storage = await sqliteStorage({ path, busyTimeout: 100 });
    other.exec('BEGIN IMMEDIATE');
    const results = await Promise.allSettled([storage.commit(creation('a')), storage.commit(creation('b'))]);
    expect(results).toEqual([
      { status: 'rejected', reason: expect.objectContaining(busy) },
      { status: 'rejected', reason: expect.objectContaining(busy) },
    ]);
    other.exec('ROLLBACK');
    expect(await storage.list({ kind: 'flag', part: 'summary' })).toEqual([]);
    expect(await storage.commit(creation('a'))).toMatchObject({ ok: true });
    await storage.close();
  });

  it('can be tried once without waiting', async () => {
    const { storage, database, attempts } = await observedStorage(0);
    other.exec('BEGIN IMMEDIATE');
    await expect(storage.commit(creation('a'))).rejects.toMatchObject(busy);
    expect(attempts()).toBe(1);
    other.exec('ROLLBACK');
    database.close();
  });

  it('is read as soon as the lock is released, where readers are locked out', async () => {
    const { storage, database } = await observedStorage();
    await storage.commit(creation('a'));
    other.exec('BEGIN EXCLUSIVE');
    let answered = false;
    const reading = Promise.resolve(storage.get(flag('a'))).finally(() => {
      answered = true;
    });
    for (let turn = 0; turn < 10; turn++) await setImmediate();
    expect(answered).toBe(false);
    other.exec('ROLLBACK');
    expect(await reading).toMatchObject({ revision: 1 });
    database.close();
  });

  it('fails with storage_busy when readers stay locked out', async () => {
    const { storage, database } = await observedStorage(30);
    other.exec('BEGIN EXCLUSIVE');
    await expect(storage.get(flag('a'))).rejects.toMatchObject(busy);
    await expect(storage.list({ kind: 'flag', part: 'body' })).rejects.toMatchObject(busy);
    await expect(storage.events({ order: 'oldest-first', limit: 1, total: true })).rejects.toMatchObject(busy);
    other.exec('ROLLBACK');
    database.close();
  });

  it('finishes waiting commits before it closes', async () => {
    const { storage, database, attempts } = await observedStorage();
    other.exec('BEGIN IMMEDIATE');
    const commit = storage.commit(creation('a'));
    const closing = storage.close();
    await attempted(2, attempts);
    other.exec('ROLLBACK');
    await closing;
    expect(await commit).toEqual({ ok: true, revisions: [1] });
    database.close();
  });
});
