import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { closed, creation, flag, unsupported } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';

/** Passes a check, and is SQL when it is used. */
function changingText(): () => string {
  const texts = ['flags_', 'x (y); DROP TABLE users; --'];
  return () => texts.shift() ?? '';
}

describe('opening a SQLite storage', () => {
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
    ['a database that is none', { database: {} }],
    ['no database', { database: null }],
    ['a prefix with a dash', { path: ':memory:', tablePrefix: 'my-flags' }],
    ['an empty prefix', { path: ':memory:', tablePrefix: '' }],
    ['a migrate that is no boolean', { path: ':memory:', migrate: 'no' }],
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

  it('says that it is closed when the host has closed its handle', async () => {
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
    await storage.usage?.record({ id: '1', at: 5_000, reports });
    await storage.close();
    const reopened = await sqliteStorage(path);
    expect(await reopened.usage?.sum({ resolution: 'minute', by: ['flag'] })).toEqual(counts);
    await reopened.close();
  });

  it('refuses tables that a newer version of the library has made, and leaves them alone', async () => {
    await (await sqliteStorage(path)).close();
    const database = new Database(path);
    database.exec("UPDATE flags_meta SET value = 999 WHERE name = 'schema_version'");
    await expect(sqliteStorage(path)).rejects.toMatchObject(unsupported);
    await expect(sqliteStorage(path)).rejects.toThrow('schema version 999');
    expect(database.prepare('SELECT value FROM flags_meta').pluck().all()).toEqual([999]);
    database.close();
  });
});
