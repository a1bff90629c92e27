import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { until } from '../../../../../test/until.js';
import { createWriteQueue } from '../../../src/storage/sqlite/database.js';
import { createFileCheck, sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { usageOf } from '../../../src/storage/usage/port.js';
import { closed, creation, flag, unavailable, unsupported } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';

describe('opening a SQLite storage', () => {
  /** Passes a check, and is SQL when it is used. */
  function changingText(): () => string {
    const texts = ['flags_', 'x (y); DROP TABLE users; --'];
    return () => texts.shift() ?? '';
  }

  let directory: ReturnType<typeof temporaryDirectory>;
  let path: string;

  beforeEach(() => {
    directory = temporaryDirectory();
    path = join(directory.path, 'flags.db');
  });

  afterEach(() => directory.remove());

  it.each([
    ['an empty path', ''],
    ['no path', { path: undefined }],
    ['a database that is not one', { database: {} }],
    ['no database', { database: null }],
    ['a prefix with a dash', { path: ':memory:', tablePrefix: 'my-flags' }],
    ['an empty prefix', { path: ':memory:', tablePrefix: '' }],
    ['a `migrate` that is not a boolean', { path: ':memory:', migrate: 'no' }],
    ['a prefix that SQLite keeps for itself', { path: ':memory:', tablePrefix: 'sqlite_flags_' }],
    ['a prefix in an array', { path: ':memory:', tablePrefix: ['flags_'] }],
    ['a prefix that is another text every time', { path: ':memory:', tablePrefix: { toString: changingText() } }],
    ['a path with a zero byte', 'flags.db\0.txt'],
    ['a negative busyTimeout', { path: ':memory:', busyTimeout: -1 }],
    ['an endless busyTimeout', { path: ':memory:', busyTimeout: Number.POSITIVE_INFINITY }],
  ])('refuses %s', async (_, options) => {
    const opening = sqliteStorage(options as Parameters<typeof sqliteStorage>[0]);
    await expect(opening).rejects.toMatchObject({ name: 'FlagsError', code: 'invalid_input' });
  });

  it('names the directory that is missing', async () => {
    const missing = join(directory.path, 'absent', 'flags.db');
    await expect(sqliteStorage(missing)).rejects.toMatchObject(unsupported);
    await expect(sqliteStorage(missing)).rejects.toThrow(
      `create the directory ${join(directory.path, 'absent')} first`,
    );
  });

  it('refuses a directory', async () => {
    await expect(sqliteStorage(directory.path)).rejects.toMatchObject(unsupported);
    await expect(sqliteStorage(directory.path)).rejects.toThrow(`${directory.path} cannot be opened`);
  });

  it('refuses a file that is not a database, and leaves it as it is', async () => {
    writeFileSync(path, 'my shopping list '.repeat(100));
    await expect(sqliteStorage(path)).rejects.toMatchObject(unsupported);
    await expect(sqliteStorage(path)).rejects.toThrow(`${path} is not a SQLite database`);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('refuses a database that cannot be written to', async () => {
    await (await sqliteStorage(path)).close();
    const database = new Database(path, { readonly: true });
    await expect(sqliteStorage({ database })).rejects.toMatchObject(unsupported);
    await expect(sqliteStorage({ database })).rejects.toThrow('cannot be written to');
    database.close();
  });

  it('refuses a handle that is closed', async () => {
    const database = new Database(path);
    database.close();
    await expect(sqliteStorage({ database })).rejects.toMatchObject(closed);
  });

  it('refuses a database whose text does not sort by code points', async () => {
    const database = new Database(path);
    database.pragma("encoding = 'UTF-16le'");
    await expect(sqliteStorage({ database })).rejects.toMatchObject(unsupported);
    database.close();
  });

  it('uses a write-ahead log', async () => {
    const storage = await sqliteStorage(path);
    const reader = new Database(path);
    expect(reader.pragma('journal_mode', { simple: true })).toBe('wal');
    reader.close();
    await storage.close();
  });

  it("keeps the host's pragmas and user_version as they are", async () => {
    const database = new Database(path);
    database.pragma('user_version = 7');
    const pragmas = () =>
      ['journal_mode', 'synchronous', 'user_version', 'busy_timeout'].map((name) => database.pragma(name));
    const before = pragmas();
    const storage = await sqliteStorage({ database });
    await storage.commit(creation('a'));
    expect(pragmas()).toEqual(before);
    database.close();
  });

  it("leaves the host's handle open when it is closed", async () => {
    const database = new Database(path);
    const storage = await sqliteStorage({ database });
    await storage.close();
    expect(database.open).toBe(true);
    await expect(storage.get(flag('a'))).rejects.toMatchObject(closed);
    await expect(storage.commit(creation('a'))).rejects.toMatchObject(closed);
    database.close();
  });

  it('closes the database that it opened itself', async () => {
    const storage = await sqliteStorage(path);
    await storage.commit(creation('a'));
    expect(existsSync(`${path}-wal`)).toBe(true);
    await storage.close();
    // SQLite removes it with the last connection.
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('reports that it is closed when the host has closed its handle', async () => {
    const database = new Database(path);
    const storage = await sqliteStorage({ database });
    database.close();
    await expect(storage.get(flag('a'))).rejects.toMatchObject(closed);
    await expect(storage.commit(creation('a'))).rejects.toMatchObject(closed);
    await storage.close();
  });

  it('keeps storages of different prefixes in one file apart', async () => {
    const one = await sqliteStorage({ path, tablePrefix: 'one_' });
    const two = await sqliteStorage({ path, tablePrefix: 'two_' });
    await one.commit(creation('a'));
    expect(await one.get(flag('a'))).toBeDefined();
    expect(await two.get(flag('a'))).toBeUndefined();
    await one.close();
    await two.close();
  });

  it('changes nothing without a migration, and creates no file', async () => {
    const unsupported = { code: 'storage_unsupported' };
    await expect(sqliteStorage({ path, migrate: false })).rejects.toMatchObject(unsupported);
    expect(existsSync(path)).toBe(false);
    const others = new Database(path);
    others.exec('CREATE TABLE others (id INTEGER)');
    for (const options of [{ path }, { database: others }]) {
      await expect(sqliteStorage({ ...options, migrate: false })).rejects.toMatchObject(unsupported);
    }
    expect(others.prepare('SELECT name FROM sqlite_master').pluck().all()).toEqual(['others']);
    expect(others.pragma('journal_mode', { simple: true })).toBe('delete');
    others.close();
    await (await sqliteStorage(path)).close();
    const storage = await sqliteStorage({ path, migrate: false });
    expect(await storage.commit(creation('a'))).toMatchObject({ ok: true });
    await storage.close();
  });

  it('keeps usage in the same file', async () => {
    const storage = await sqliteStorage(path);
    const counts = [{ flag: 'a', yes: 2, no: 1 }];
    const reports = [{ application: 'shop', instance: { id: 'i' }, stop: 5_000, counts }];
    await usageOf(storage)?.record({ id: '1', at: 5_000, reports });
    await storage.close();
    const reopened = await sqliteStorage(path);
    expect(await usageOf(reopened)?.sum({ resolution: 'minute', by: ['flag'] })).toEqual(counts);
    await reopened.close();
  });

  it('refuses tables that a newer version of the library has made, and leaves them alone', async () => {
    await (await sqliteStorage(path)).close();
    const database = new Database(path);
    database.exec("UPDATE flags_meta SET value = 999 WHERE name = 'schema_version'");
    await expect(sqliteStorage(path)).rejects.toMatchObject(unsupported);
    await expect(sqliteStorage(path)).rejects.toThrow('schema version 999');
    expect(database.prepare('SELECT value FROM flags_meta').pluck().all()).toEqual([1, 999]);
    database.close();
  });
});

describe('the check of an open database', () => {
  let directory: ReturnType<typeof temporaryDirectory>;
  let folder: string;

  beforeEach(() => {
    directory = temporaryDirectory();
    folder = join(directory.path, 'data');
    mkdirSync(folder);
  });

  afterEach(() => directory.remove());

  const at = (name: string) => join(folder, name);

  function replaceByCopy(path: string): void {
    copyFileSync(path, `${path}.copy`);
    renameSync(`${path}.copy`, path);
  }

  let database: Database.Database;
  let path: string;

  beforeEach(() => {
    path = at('flags.db');
    database = new Database(path);
    database.pragma('journal_mode = WAL');
    database.exec('CREATE TABLE notes (text)');
  });

  afterEach(() => database.close());

  const LOSSES: readonly (readonly [string, () => void])[] = [
    ['the file is removed', () => rmSync(path)],
    ['its log is removed', () => rmSync(`${path}-wal`)],
    ['its log is replaced by a copy', () => replaceByCopy(`${path}-wal`)],
    ['the index of its log is removed', () => rmSync(`${path}-shm`)],
    ['the index of its log is replaced by a copy', () => replaceByCopy(`${path}-shm`)],
    ['the file is moved away', () => renameSync(path, `${path}.old`)],
    ['its folder is moved away', () => renameSync(folder, `${folder}-old`)],
    ['the file is replaced by a copy', () => replaceByCopy(path)],
  ];

  it.each(LOSSES)('fails as soon as %s', (_, lose) => {
    const requireFile = createFileCheck(database);
    requireFile();
    lose();
    expect(requireFile).toThrow(expect.objectContaining(unavailable));
    expect(requireFile).toThrow(expect.objectContaining(unavailable));
  });

  it.each(LOSSES)('fails as soon as %s from a directory that had not changed for long', async (_, lose) => {
    const requireFile = createFileCheck(database, () => Date.now() + 60_000);
    // File systems store times in steps of a few milliseconds: within one the directory would look unchanged.
    const { ctimeMs } = statSync(folder);
    await until(() => Date.now() > ctimeMs + 20);
    requireFile();
    lose();
    expect(requireFile).toThrow(expect.objectContaining(unavailable));
    expect(requireFile).toThrow(expect.objectContaining(unavailable));
  });

  it('does not trust a directory that changed just now', () => {
    const requireFile = createFileCheck(database, () => statSync(folder).ctimeMs);
    requireFile();
    rmSync(`${path}-wal`);
    expect(requireFile).toThrow(expect.objectContaining(unavailable));
  });

  it.each(LOSSES)('leaves the outcome unknown of a commit during which %s', async (_, lose) => {
    const requireFile = createFileCheck(database);
    const connection = { database, busyTimeout: 1000, isHosts: true };
    const queue = createWriteQueue(connection, { begun: requireFile, committed: requireFile });
    const outcome = queue.run(() => {
      database.exec("INSERT INTO notes VALUES ('lost?')");
      lose();
    });
    await expect(outcome).rejects.toMatchObject({ code: 'outcome_unknown' });
    await expect(queue.run(() => undefined)).rejects.toMatchObject(unavailable);
  });

  it('passes again when the file is put back', () => {
    const requireFile = createFileCheck(database);
    requireFile();
    renameSync(path, `${path}.old`);
    expect(requireFile).toThrow(expect.objectContaining(unavailable));
    renameSync(`${path}.old`, path);
    requireFile();
  });

  it('passes while the journal is turned off and on, and the check runs in between', () => {
    const requireFile = createFileCheck(database);
    requireFile();
    // Keeps the inode of the log, which another file could get.
    linkSync(`${path}-wal`, at('old-log'));
    database.pragma('journal_mode = DELETE');
    requireFile();
    database.pragma('journal_mode = WAL');
    database.exec('CREATE TABLE others (text)');
    requireFile();
    rmSync(`${path}-wal`);
    expect(requireFile).toThrow(expect.objectContaining(unavailable));
  });
});

describe('the mode of a private file', () => {
  const describeOnPosix = process.platform === 'win32' ? describe.skip : describe;

  describeOnPosix('the mode of the files of a SQLite storage', () => {
    let directory: ReturnType<typeof temporaryDirectory>;
    let path: string;
    let umask: number;

    beforeEach(() => {
      directory = temporaryDirectory();
      path = join(directory.path, 'flags.db');
      umask = process.umask(0);
    });

    afterEach(() => {
      process.umask(umask);
      directory.remove();
    });

    const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);

    /** By file name. */
    function modes(): Record<string, string> {
      return Object.fromEntries(readdirSync(directory.path).map((file) => [file, modeOf(join(directory.path, file))]));
    }

    it('is 0600 for a new database, its -wal and its -shm', async () => {
      const storage = await sqliteStorage(path);
      await storage.commit(creation('a'));
      expect(modes()).toEqual({ 'flags.db': '600', 'flags.db-wal': '600', 'flags.db-shm': '600' });
      await storage.close();
    });

    it('is 0600 with spaces around the path, and when several processes open it at once', async () => {
      const storages = await Promise.all([path, ` ${path} `, path].map((one) => sqliteStorage(one)));
      await Promise.all(storages.map((storage, index) => storage.commit(creation(`flag-${index}`))));
      expect(modes()).toEqual({ 'flags.db': '600', 'flags.db-wal': '600', 'flags.db-shm': '600' });
      await Promise.all(storages.map((storage) => storage.close()));
    });

    it('is 0600 for a new database behind symbolic links', async () => {
      symlinkSync('second', path);
      symlinkSync(join(directory.path, 'data.db'), join(directory.path, 'second'));
      const storage = await sqliteStorage(path);
      expect(modeOf(join(directory.path, 'data.db'))).toBe('600');
      await storage.close();
    });

    it('fails with a clear error where a symbolic link refers to itself', async () => {
      symlinkSync(path, path);
      await expect(sqliteStorage(path)).rejects.toMatchObject({ code: 'storage_unsupported' });
    });

    it('does not change for an existing file, and its -wal has the same', async () => {
      writeFileSync(path, '', { mode: 0o640 });
      const storage = await sqliteStorage(path);
      await storage.commit(creation('a'));
      expect(modes()).toEqual({ 'flags.db': '640', 'flags.db-wal': '640', 'flags.db-shm': '640' });
      await storage.close();
    });

    it('is 0600 for a backup, from its first byte on', async () => {
      const storage = await sqliteStorage(path);
      const backup = join(directory.path, 'flags.backup');
      const made = storage.backup(backup);
      const partials = () => readdirSync(directory.path).filter((file) => file.includes('.partial'));
      await until(() => partials().length > 0);
      expect(partials().map((file) => modeOf(join(directory.path, file)))).toEqual(['600']);
      await made;
      expect(modeOf(backup)).toBe('600');
      await storage.close();
    });

    it('is not set for a file in a folder that does not exist', async () => {
      const missing = join(directory.path, 'missing', 'flags.db');
      await expect(sqliteStorage(missing)).rejects.toMatchObject({ code: 'storage_unsupported' });
      expect(existsSync(missing)).toBe(false);
    });
  });
});
