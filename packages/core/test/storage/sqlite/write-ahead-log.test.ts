import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { until } from '../../../../../test/until.js';
import { openFlags } from '../../../src/open-flags.js';
import { memoryStorage } from '../../../src/storage/memory/storage.js';
import type { FlagsStorage } from '../../../src/storage/port.js';
import { createIdleCheckpoint, type SqliteStorage, sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { creation, flag, put } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { fill } from './backup-sources.js';

describe('the write-ahead log', () => {
  const MEBIBYTE = 1024 * 1024;
  /** Milliseconds without a write after which tests empty the log. */
  const IDLE = 20;

  let directory: ReturnType<typeof temporaryDirectory>;
  let path: string;

  beforeEach(() => {
    directory = temporaryDirectory();
    path = join(directory.path, 'flags.db');
  });

  afterEach(() => directory.remove());

  const logSize = () => statSync(`${path}-wal`).size;

  describe('the write-ahead log of a SQLite storage', () => {
    let storage: SqliteStorage;

    beforeEach(async () => {
      storage = await sqliteStorage(path);
    });

    afterEach(() => storage.close());

    it('shrinks to 16 MiB after a long read has made it grow', async () => {
      const reader = new Database(path, { readonly: true });
      reader.exec('BEGIN; SELECT COUNT(*) FROM flags_documents');
      const body = { text: 'x'.repeat(MEBIBYTE) };
      for (let number = 0; number < 24; number++) {
        await storage.commit({ writes: [{ ...put(`large-${number}`), body }], events: [] });
      }
      expect(storage.walBytes?.()).toBeGreaterThan(24 * MEBIBYTE);
      reader.close();
      // The first commit moves the pages into the database, the next restarts the log.
      await storage.commit(creation('a'));
      await storage.commit(creation('b'));
      expect(storage.walBytes?.()).toBe(16 * MEBIBYTE);
    });

    it('is reported with its size in the status of the flags', async () => {
      const flags = await openFlags({ storage });
      const { walBytes } = flags.status();
      expect(walBytes).toBeGreaterThan(0);
      expect(walBytes).toBe(logSize());
      expect(Object.isFrozen(flags.status())).toBe(true);
      expect(await flags.refresh()).toMatchObject({ state: 'current', walBytes });
      await flags.close();
      expect(flags.status()).not.toHaveProperty('walBytes');
    });

    it('is reported with its size in the status also for a handle of the host', async () => {
      const database = new Database(path);
      const flags = await openFlags({ storage: sqliteStorage({ database }) });
      expect(flags.status().walBytes).toBe(logSize());
      await flags.close();
      database.close();
    });
  });

  describe('the write-ahead log that another connection empties', () => {
    it.each([
      'PRAGMA wal_checkpoint(TRUNCATE)',
      'PRAGMA wal_checkpoint(RESTART)',
      'PRAGMA journal_size_limit = 0; PRAGMA wal_checkpoint(RESTART); CREATE TABLE mine (id)',
      'VACUUM; PRAGMA wal_checkpoint(TRUNCATE)',
    ])('by %s takes further changes, which are kept', async (sql) => {
      const storage = await sqliteStorage(path);
      const others = [await sqliteStorage(path), await sqliteStorage(path)];
      const ids: string[] = [];
      for (let round = 0; round < 4; round++) {
        for (const [index, one] of [storage, ...others].entries()) {
          for (let number = 0; number < 3; number++) {
            const id = `${round}-${index}-${number}`;
            await one.commit(creation(id));
            ids.push(id);
          }
        }
        const other = new Database(path);
        other.exec(round === 0 ? sql : sql.replace(/; CREATE.*/, ''));
        other.close();
      }
      for (const one of [storage, ...others]) await one.close();
      const opened = await sqliteStorage(path);
      for (const id of ids) expect(await opened.get(flag(id))).toBeDefined();
      await opened.close();
    });
  });

  it.each([
    ['memory', () => memoryStorage()],
    ['a SQLite database in memory', () => sqliteStorage(':memory:')],
  ])('has no size in the status of flags on %s', async (_, open) => {
    const flags = await openFlags({ storage: open() });
    expect(flags.status()).not.toHaveProperty('walBytes');
    await flags.close();
  });

  describe('an idle write-ahead log', () => {
    let database: Database.Database;
    let checkpoint: ReturnType<typeof createIdleCheckpoint>;
    let isInPlace: boolean;
    let checks: number;

    beforeEach(async () => {
      const storage = await sqliteStorage(path);
      await fill(storage, 200);
      database = new Database(path, { timeout: 10 });
      await storage.close();
      isInPlace = true;
      checks = 0;
      const assertFile = () => {
        checks += 1;
        if (!isInPlace) throw new Error('not in place');
      };
      checkpoint = createIdleCheckpoint(database, assertFile, IDLE);
    });

    afterEach(() => {
      checkpoint.stop();
      database.close();
    });

    /** SQLite writes nothing where nothing changes. */
    const CHANGE =
      "INSERT INTO flags_meta (name, value) VALUES ('test', 1) ON CONFLICT DO UPDATE SET value = value + 1";

    function write(): void {
      database.exec(CHANGE);
      checkpoint.schedule();
    }

    it('is emptied, and again after the next write', async () => {
      for (let round = 0; round < 3; round++) {
        write();
        expect(logSize()).toBeGreaterThan(0);
        await until(() => logSize() === 0);
      }
    });

    it('is left alone while another connection reads from it, and delays neither readers nor writers', async () => {
      write();
      const reader = new Database(path, { readonly: true, timeout: 0 });
      reader.exec('BEGIN; SELECT COUNT(*) FROM flags_documents');
      const other = new Database(path, { timeout: 0 });
      write();
      const end = performance.now() + 5 * IDLE;
      await until(() => {
        other.exec(CHANGE);
        expect(reader.prepare('SELECT COUNT(*) FROM flags_documents').pluck().get()).toBe(200);
        return performance.now() > end;
      });
      expect(logSize()).toBeGreaterThan(0);
      reader.close();
      await until(() => logSize() === 0);
      expect(database.pragma('busy_timeout', { simple: true })).toBe(10);
      other.close();
    });

    it('is left alone while a file of the database is gone', async () => {
      write();
      isInPlace = false;
      await until(() => checks > 2);
      expect(logSize()).toBeGreaterThan(0);
      isInPlace = true;
      await until(() => logSize() === 0);
    });

    it('leaves the cache of the connection that empties it', async () => {
      write();
      const versionBefore = database.pragma('data_version', { simple: true });
      await until(() => logSize() === 0);
      expect(database.pragma('data_version', { simple: true })).toBe(versionBefore);
    });

    it('is not searched after its end', async () => {
      write();
      checkpoint.stop();
      const content = readFileSync(`${path}-wal`);
      const later = performance.now() + 5 * IDLE;
      await until(() => performance.now() > later);
      expect(readFileSync(`${path}-wal`)).toEqual(content);
    });
  });

  describe('the timer that empties the write-ahead log', () => {
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'Date', 'hrtime'] });
    });

    afterEach(() => jest.useRealTimers());

    it('empties it five seconds after the last write, and stops with close', async () => {
      const storage = await sqliteStorage(path);
      await storage.commit(creation('a'));
      jest.advanceTimersByTime(4_000);
      await storage.commit(creation('b'));
      jest.advanceTimersByTime(4_000);
      expect(logSize()).toBeGreaterThan(0);
      jest.advanceTimersByTime(2_000);
      expect(logSize()).toBe(0);
      expect(jest.getTimerCount()).toBe(0);
      await storage.commit(creation('c'));
      expect(jest.getTimerCount()).toBe(1);
      await storage.close();
      expect(jest.getTimerCount()).toBe(0);
    });

    it('is not started on a handle of the host', async () => {
      const database = new Database(path);
      database.pragma('journal_mode = WAL');
      const storage = await sqliteStorage({ database });
      await storage.commit(creation('a'));
      expect(jest.getTimerCount()).toBe(0);
      expect(database.pragma('journal_size_limit', { simple: true })).toBe(-1);
      await storage.close();
      database.close();
    });
  });
});

const page = { order: 'newest-first', limit: 20 } as const;
const feed = { order: 'oldest-first', limit: 20 } as const;

const questions: readonly (readonly [string, (storage: FlagsStorage) => unknown])[] = [
  ['one document', (storage) => storage.get(flag('a'))],
  ['a list of all documents', (storage) => storage.list({ kind: 'flag', part: 'summary' })],
  ['a list under one parent', (storage) => storage.list({ kind: 'flag', parent: 'shop', part: 'body' })],
  ['a page of all documents', (storage) => storage.list({ kind: 'flag', part: 'summary', after: 'A', limit: 2 })],
  [
    'a page under one parent',
    (storage) => storage.list({ kind: 'flag', parent: 'shop', part: 'summary', after: 'A', limit: 2 }),
  ],
  ['a commit', (storage) => storage.commit({ ...creation('b'), vacant: [{ kind: 'flag', parent: 'lab' }] })],
  ['the feed from a position', (storage) => storage.events({ ...feed, after: '1' })],
  ['the newest events', (storage) => storage.events(page)],
  ['the events of a project', (storage) => storage.events({ ...page, filter: { project: 'shop' } })],
  ['the events of a document', (storage) => storage.events({ ...page, filter: { subject: flag('a') } })],
  ['the events of a change set', (storage) => storage.events({ ...feed, filter: { changeSet: 'a' } })],
  ['the events up to a position', (storage) => storage.events({ ...page, until: '1', filter: { subject: flag('a') } })],
  ['the events of a type', (storage) => storage.events({ ...page, filter: { type: 'created' } })],
];

describe('the SQLite storage', () => {
  it.each(questions)('answers %s without sorting and without reading documents that do not match', async (_, ask) => {
    const plans = await plansOf(ask);
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.filter(isWasteful)).toEqual([]);
  });
});

describe('a page of a list in SQLite', () => {
  it.each([
    ['of all parents', { kind: 'flag' }],
    ['under one parent', { kind: 'flag', parent: 'shop' }],
  ])('starts at its cursor, by an index, %s', async (_, place) => {
    const plans = await plansOf((storage) => storage.list({ ...place, part: 'summary', after: 'A', limit: 2 }));
    expect(plans.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/^SEARCH .* USING INDEX .*\(kind=\? AND .*id>\?\)$/),
    ]);
  });
});

interface Step {
  readonly query: string;
  readonly detail: string;
}

/** The query plans of a read, step by step. */
async function plansOf(ask: (storage: FlagsStorage) => unknown): Promise<readonly Step[]> {
  const executed: string[] = [];
  const database = new Database(':memory:', { verbose: (sql) => executed.push(String(sql)) });
  const storage = await sqliteStorage({ database });
  await storage.commit(creation('a'));
  executed.length = 0;
  await ask(storage);
  const queries = executed.filter((sql) => sql.startsWith('SELECT'));
  const plans = queries.flatMap((query) => {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${query}`).all() as { readonly detail: string }[];
    return steps.map(({ detail }) => ({ query, detail }));
  });
  database.close();
  return plans;
}

/** Only a query without a condition has to scan. */
function isWasteful({ query, detail }: Step): boolean {
  return detail.includes('TEMP B-TREE') || (detail.startsWith('SCAN') && query.includes('WHERE'));
}
