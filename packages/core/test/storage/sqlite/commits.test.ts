import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { pause } from '../../../src/base/paced.js';
import type { FlagsStorage } from '../../../src/storage/port.js';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { usageOf } from '../../../src/storage/usage/port.js';
import { busy, creation, flag, put } from '../samples.js';
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
    while (attempts() < times) await setImmediate();
  }

  it('accepts writes as soon as the lock is released', async () => {
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

  it('is readable as soon as the lock is released, where readers are locked out', async () => {
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

  it('fails with storage_busy while readers stay locked out', async () => {
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

/** By its message: the driver makes errors in the realm of the test file that loaded it first, where `Error` is another. */
const INJECTED = { message: expect.stringContaining('injected fault') };

describe.each(['ABORT', 'ROLLBACK', 'FAIL'])('a fault in the middle of a commit (%s)', (reaction) => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let storage: FlagsStorage;

  beforeEach(async () => {
    directory = temporaryDirectory();
    const path = join(directory.path, 'flags.db');
    storage = await sqliteStorage(path);
    const saboteur = new Database(path);
    saboteur.exec(`
      CREATE TRIGGER poison BEFORE INSERT ON flags_events WHEN NEW.type = 'poisoned'
      BEGIN SELECT RAISE(${reaction}, 'injected fault'); END
    `);
    saboteur.close();
  });
  afterEach(async () => {
    await storage.close();
    directory.remove();
  });

  it('leaves neither document nor event', async () => {
    const { writes, events } = creation('a', 'poisoned');
    const commit = { writes: [...writes, put('b')], events: [...creation('b').events, ...events] };
    await expect(storage.commit({ ...commit, writes: [put('b'), put('a')] })).rejects.toMatchObject(INJECTED);
    expect(await storage.list({ kind: 'flag', part: 'body' })).toEqual([]);
    expect(await storage.events({ order: 'oldest-first', limit: 9, total: true })).toEqual({ events: [], total: 0 });
  });

  it('fails only that commit of all that share its transaction', async () => {
    const ids = Array.from({ length: 9 }, (_, index) => `f${index}`);
    const types = (id: string) => (id === 'f4' ? 'poisoned' : 'created');
    const results = await Promise.allSettled(ids.map((id) => storage.commit(creation(id, types(id)))));
    expect(results.flatMap(({ status }, index) => (status === 'rejected' ? [index] : []))).toEqual([4]);
    const innocent = ids.filter((id) => id !== 'f4');
    expect((await storage.list({ kind: 'flag', part: 'summary' })).map(({ key }) => key.id)).toEqual(innocent);
    const { events } = await storage.events({ order: 'oldest-first', limit: 99 });
    expect(events.map(({ subject }) => subject.id)).toEqual(innocent);
  });

  it('does not affect later commits', async () => {
    await expect(storage.commit(creation('a', 'poisoned'))).rejects.toMatchObject(INJECTED);
    expect(await storage.commit(creation('a'))).toEqual({ ok: true, revisions: [1] });
    expect((await storage.get(flag('a')))?.revision).toBe(1);
  });
});

describe('simultaneous commits', () => {
  /** A storage on a database that logs every statement it runs. */
  async function loggingStorage() {
    const log: unknown[] = [];
    const database = new Database(':memory:', { verbose: (sql) => log.push(sql) });
    const storage = await sqliteStorage({ database });
    log.length = 0;
    return { storage, database, log, count: (statement: string) => log.filter((entry) => entry === statement).length };
  }

  const ids = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`);

  it('share one transaction', async () => {
    const { storage, count } = await loggingStorage();
    const results = await Promise.all(ids(100).map((id) => storage.commit(creation(id))));
    expect(results).toEqual(ids(100).map(() => ({ ok: true, revisions: [1] })));
    expect([count('BEGIN IMMEDIATE'), count('COMMIT'), count('ROLLBACK')]).toEqual([1, 1, 0]);
  });

  it('share several transactions when there are very many', async () => {
    const { storage, count } = await loggingStorage();
    await Promise.all(ids(600).map((id) => storage.commit(creation(id))));
    expect(count('COMMIT')).toBe(3);
  });

  it('share a transaction of at most 8 MiB', async () => {
    const { storage, count } = await loggingStorage();
    const large = (id: string) => ({ writes: [{ ...put(id), body: 'x'.repeat(3 * 1_048_576) }], events: [] });
    const results = await Promise.all(ids(5).map((id) => storage.commit(large(id))));
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect(count('COMMIT')).toBe(3);
  });

  it('share a transaction of at most 512 counts of usage', async () => {
    const { storage, count } = await loggingStorage();
    const counts = ids(100).map((flag) => ({ flag, yes: 1, no: 0 }));
    const report = { application: 'shop', instance: { id: '1' }, stop: 0, counts };
    await Promise.all(ids(12).map((id) => usageOf(storage)?.record({ id, at: 0, reports: [report] })));
    expect(count('COMMIT')).toBe(3);
  });

  it('are answered after the transaction has been committed', async () => {
    const { storage, log } = await loggingStorage();
    const answered = ids(3).map(async (id) => {
      await storage.commit(creation(id));
      log.push(`answered ${id}`);
    });
    await Promise.all(answered);
    expect(log.slice(log.indexOf('COMMIT'))).toEqual(['COMMIT', 'answered f0', 'answered f1', 'answered f2']);
  });

  it('begin the slice of their turn, so that what follows a long one waits for the next turn', async () => {
    const spend = (sql: unknown) => {
      if (sql === 'COMMIT') for (const end = performance.now() + 10; performance.now() < end; );
    };
    const storage = await sqliteStorage({ database: new Database(':memory:', { verbose: spend }) });
    await storage.commit(creation('a'));
    expect(pause()).toBeInstanceOf(Promise);
  });

  it('are checked against the writes of the previous ones', async () => {
    const { storage, count } = await loggingStorage();
    const results = await Promise.all(['a', 'a', 'b', 'a', 'b'].map((id) => storage.commit(creation(id))));
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true, false, false]);
    expect(count('BEGIN IMMEDIATE')).toBe(1);
  });

  it('leave nothing of the one that loses', async () => {
    const { storage } = await loggingStorage();
    const loser = { writes: [...creation('new').writes, ...creation('a').writes], events: creation('new').events };
    await Promise.all([storage.commit(creation('a')), storage.commit(loser), storage.commit(creation('b'))]);
    expect(await storage.get(flag('new'))).toBeUndefined();
    expect((await storage.events({ order: 'oldest-first', limit: 9 })).events).toHaveLength(2);
  });

  it('wait for each other while the transaction is open', async () => {
    const { storage, count } = await loggingStorage();
    const first = storage.commit(creation('a'));
    await setImmediate();
    const second = storage.commit(creation('b'));
    await Promise.all([first, second]);
    expect([count('BEGIN IMMEDIATE'), count('COMMIT')]).toEqual([2, 2]);
  });

  it('do not keep a value without JSON from failing alone', async () => {
    const { storage } = await loggingStorage();
    const impossible = { ...creation('b'), writes: [{ ...creation('b').writes[0], body: 1n }] };
    const results = await Promise.allSettled(
      [creation('a'), impossible, creation('c')].map((commit) => storage.commit(commit as ReturnType<typeof creation>)),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await storage.get(flag('b'))).toBeUndefined();
  });
});

describe('host transactions', () => {
  /** The SQLite of Node does not report that the host iterates over a query. */
  const itIfReported = process.env.FLAGS_SQLITE === 'node' ? it.skip : it;

  describe("the host's own work on the same handle", () => {
    let database: Database.Database;
    let storage: FlagsStorage;

    beforeEach(async () => {
      database = new Database(':memory:');
      database.exec('CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (1), (2), (3)');
      storage = await sqliteStorage({ database });
    });

    afterEach(() => database.close());

    async function someTurns(): Promise<void> {
      for (let turn = 0; turn < 10; turn++) await setImmediate();
    }

    it('keeps commits out of an open transaction, so that its rollback does not revert them', async () => {
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

    it('delays reads while a transaction is open', async () => {
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
    await expect(storage.get(flag('a'))).rejects.toMatchObject({
      ...busy,
      message: expect.stringContaining('iterator'),
    });
    await expect(storage.list({ kind: 'flag', part: 'summary' })).rejects.toMatchObject(busy);
    await expect(storage.dataVersion?.()).rejects.toMatchObject(busy);
    await expect(usageOf(storage)?.sum({ resolution: 'ever', by: ['flag'] })).rejects.toMatchObject(busy);
    orders.return?.();
    expect(await storage.get(flag('a'))).toMatchObject({ revision: 1 });
    expect(await storage.dataVersion?.()).not.toBe(before);

    await other.close();
    database.close();
    directory.remove();
  });
});
