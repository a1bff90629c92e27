import { existsSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqliteStorage } from '../../../src/storage/sqlite/storage.js';
import { creation } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { fill, watched } from './backup-sources.js';

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

  it('ends with a clear error where a symbolic link leads to itself', async () => {
    symlinkSync(path, path);
    await expect(sqliteStorage(path)).rejects.toMatchObject({ code: 'storage_unsupported' });
  });

  it('stays as it is for a file that exists, and its -wal follows it', async () => {
    writeFileSync(path, '', { mode: 0o640 });
    const storage = await sqliteStorage(path);
    await storage.commit(creation('a'));
    expect(modes()).toEqual({ 'flags.db': '640', 'flags.db-wal': '640', 'flags.db-shm': '640' });
    await storage.close();
  });

  it('is 0600 for a backup, from its first byte on', async () => {
    const database = watched(path, () => {
      const partial = readdirSync(directory.path).filter((file) => file.includes('.partial'));
      expect(partial).not.toEqual([]);
      expect(partial.map((file) => modeOf(join(directory.path, file)))).toEqual(partial.map(() => '600'));
    });
    const storage = await sqliteStorage({ database });
    await fill(storage, 500);
    const backup = join(directory.path, 'flags.backup');
    await storage.backup(backup);
    expect(modeOf(backup)).toBe('600');
    database.close();
  });

  it('is not given to a file in a folder that does not exist', async () => {
    const missing = join(directory.path, 'missing', 'flags.db');
    await expect(sqliteStorage(missing)).rejects.toMatchObject({ code: 'storage_unsupported' });
    expect(existsSync(missing)).toBe(false);
  });
});
