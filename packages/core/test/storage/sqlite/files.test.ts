import {
  copyFileSync,
  existsSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { type Flags, openFlags } from '../../../src/index.js';
import { sqliteStorage } from '../../../src/sqlite.js';
import { CHECKOUT, DEFAULT, PRODUCTION } from '../../references.js';
import { busy, unavailable, unsupported } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';

describe('an open database whose file is affected', () => {
  const SILENT = { pollInterval: 0, usage: { interval: 0 }, onError: () => undefined };
  const NOW = new Date().toISOString();
  const REPORT = {
    application: 'shop',
    instance: '1',
    start: NOW,
    stop: NOW,
    counts: { checkout: { yes: 1, no: 0 } },
  };

  /** Overwrites a file in place from a byte on, like a damaged disk. */
  function overwrite(path: string, { from, with: byte }: { from: number; with: number }): void {
    const file = openSync(path, 'r+');
    writeSync(file, Buffer.alloc(statSync(path).size - from, byte), 0, undefined, from);
  }

  let directory: ReturnType<typeof temporaryDirectory>;
  let path: string;
  let flags: Flags;

  beforeEach(async () => {
    directory = temporaryDirectory();
    path = join(directory.path, 'flags.db');
    flags = await openFlags({ ...SILENT, storage: sqliteStorage(path) });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    await flags.addStrategy(PRODUCTION, { name: 'default' });
    await flags.enable(PRODUCTION);
  });
  afterEach(async () => {
    await flags.close();
    directory.remove();
  });

  const change = () => flags.disable(PRODUCTION);

  const CHANGES: readonly (readonly [string, () => void])[] = [
    ['removed', () => rmSync(path)],
    ['removed with its log', () => ['', '-wal', '-shm'].map((end) => rmSync(path + end))],
    ['left without its log', () => rmSync(`${path}-wal`)],
    ['moved away', () => renameSync(path, `${path}.old`)],
    [
      'replaced by a copy of itself',
      () => {
        copyFileSync(path, `${path}.copy`);
        renameSync(`${path}.copy`, path);
      },
    ],
  ];

  it.each(CHANGES)(
    'refuses changes that would be lost when its file is %s, and still serves reads',
    async (_, happen) => {
      happen();
      await expect(change()).rejects.toMatchObject(unavailable);
      await expect(flags.tokens.create({ name: 'new', kind: 'admin' })).rejects.toMatchObject(unavailable);
      await expect(flags.reportMetrics(REPORT)).rejects.toMatchObject(unavailable);
      expect((await flags.getFlag(CHECKOUT)).environments.find(({ name }) => name === 'production')?.enabled).toBe(
        true,
      );
      expect((await flags.events.list()).items).not.toEqual([]);
      expect(flags.isEnabled('checkout')).toBe(true);
      expect(await flags.refresh()).toMatchObject({ state: 'stale', error: unavailable });
    },
  );

  it('accepts changes without a restart when its file is put back', async () => {
    linkSync(path, `${path}.link`);
    rmSync(path);
    await expect(change()).rejects.toMatchObject(unavailable);
    renameSync(`${path}.link`, path);
    await change();
    expect(await flags.refresh()).toMatchObject({ state: 'current' });
    const reader = await openFlags({ ...SILENT, storage: sqliteStorage(path) });
    expect(reader.isEnabled('checkout')).toBe(false);
    await reader.close();
  });

  it('accepts changes when its last user leaves during the opening, and deletes the log', async () => {
    await flags.close();
    const last = new Database(path);
    last.exec('BEGIN IMMEDIATE; COMMIT');
    const database = new Database(path);
    const opening = sqliteStorage({ database });
    await Promise.resolve().then(() => undefined);
    last.close();
    expect(existsSync(`${path}-wal`)).toBe(false);
    // Otherwise the new log might get the inode of the old one.
    writeFileSync(join(directory.path, 'other'), '');
    flags = await openFlags({ ...SILENT, storage: opening });
    await change();
    expect(await flags.refresh()).toMatchObject({ state: 'current' });
    await flags.close();
    database.close();
  });

  it('fails with a clear error when its content is overwritten, and still evaluates', async () => {
    await flags.close();
    const database = new Database(path);
    database.pragma('cache_size = 0');
    flags = await openFlags({ ...SILENT, storage: sqliteStorage({ database }) });
    database.pragma('wal_checkpoint(TRUNCATE)');
    overwrite(path, { from: 100, with: 0xab });
    await expect(flags.getFlag(CHECKOUT)).rejects.toMatchObject(unavailable);
    await expect(change()).rejects.toMatchObject(unavailable);
    await expect(flags.reportMetrics(REPORT)).rejects.toMatchObject(unavailable);
    expect(await flags.refresh()).toMatchObject({ state: 'stale', error: unavailable });
    expect(flags.isEnabled('checkout')).toBe(true);
    database.close();
  });

  it('fails with a clear error when its tables are missing, and still evaluates', async () => {
    const other = new Database(path);
    other.exec('DROP TABLE flags_documents; DROP TABLE flags_events; DROP TABLE flags_counts');
    other.close();
    await expect(flags.getFlag(CHECKOUT)).rejects.toMatchObject(unavailable);
    await expect(change()).rejects.toMatchObject(unavailable);
    await expect(flags.reportMetrics(REPORT)).rejects.toMatchObject(unavailable);
    expect(await flags.refresh()).toMatchObject({ state: 'stale', error: unavailable });
    expect(flags.isEnabled('checkout')).toBe(true);
  });

  it('fails as damaged when it contains an invalid JSON document', async () => {
    const other = new Database(path);
    other.exec(`UPDATE flags_documents SET body = '{' WHERE kind = 'flag'`);
    other.close();
    await expect(flags.getFlag(CHECKOUT)).rejects.toMatchObject(unavailable);
    await expect(flags.getFlag(CHECKOUT)).rejects.toThrow('is damaged');
    await expect(openFlags({ ...SILENT, storage: sqliteStorage(path) })).rejects.toMatchObject(unavailable);
    await flags.createFlag(DEFAULT, { name: 'other' });
  });

  it('refuses changes when a newer version of the library has changed its tables', async () => {
    const other = new Database(path);
    other.exec("UPDATE flags_meta SET value = 999 WHERE name = 'schema_version'");
    other.close();
    await expect(change()).rejects.toMatchObject(unsupported);
    await expect(flags.reportMetrics(REPORT)).rejects.toMatchObject(unsupported);
    expect(flags.isEnabled('checkout')).toBe(true);
    await expect(openFlags({ ...SILENT, storage: sqliteStorage(path) })).rejects.toMatchObject(unsupported);
  });

  it('fails to open, and leaves the file unchanged, when it was damaged before', async () => {
    await flags.close();
    overwrite(path, { from: 0, with: 0xab });
    const before = readFileSync(path);
    await expect(sqliteStorage(path)).rejects.toMatchObject(unsupported);
    expect(readFileSync(path)).toEqual(before);
  });

  it('fails to open when its tables were damaged before', async () => {
    await flags.close();
    overwrite(path, { from: 4096, with: 0xab });
    const opening = openFlags({ ...SILENT, storage: sqliteStorage(path) });
    await expect(opening).rejects.toMatchObject({ code: expect.stringMatching(/^storage_un/) });
  });
});

describe('a lock that another connection holds', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let other: Database.Database;
  let flags: Flags;
  let attempts: number;
  let database: Database.Database;

  beforeEach(async () => {
    directory = temporaryDirectory();
    const path = join(directory.path, 'flags.db');
    other = new Database(path);
    other.pragma('journal_mode = WAL');
    const verbose = (sql: unknown) => {
      if (sql === 'BEGIN IMMEDIATE') attempts += 1;
    };
    database = new Database(path, { timeout: 0, verbose });
    flags = await openFlags({
      storage: sqliteStorage({ database, busyTimeout: 0 }),
      pollInterval: 0,
      usage: { interval: 0 },
    });
    await flags.createFlag(DEFAULT, { name: 'checkout' });
    attempts = 0;
    other.exec('BEGIN IMMEDIATE');
  });
  afterEach(async () => {
    if (other.inTransaction) other.exec('ROLLBACK');
    await flags.close();
    database.close();
    other.close();
    directory.remove();
  });

  it('delays all changes of one flag once, not once each', async () => {
    const changes = Array.from({ length: 100 }, (_, index) =>
      flags.updateFlag(CHECKOUT, { description: String(index) }),
    );
    for (const outcome of await Promise.allSettled(changes)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: busy });
    }
    expect(attempts).toBe(1);
    other.exec('ROLLBACK');
    await flags.updateFlag(CHECKOUT, { description: 'later' });
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ description: 'later' });
  });

  it('does not keep flags from being read and evaluated', async () => {
    await expect(flags.createFlag(DEFAULT, { name: 'other' })).rejects.toMatchObject(busy);
    expect(await flags.getFlag(CHECKOUT)).toMatchObject({ name: 'checkout' });
    expect(await flags.refresh()).toMatchObject({ state: 'current' });
    expect(flags.isEnabled('checkout')).toBe(false);
  });
});
