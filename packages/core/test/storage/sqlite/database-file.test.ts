import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createWriteQueue } from '../../../src/storage/sqlite/database.js';
import { createFileCheck } from '../../../src/storage/sqlite/storage.js';
import { unavailable } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';

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

describe('the check of an open database', () => {
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

  it.each(LOSSES)('leaves the outcome of a commit unknown during which %s', async (_, lose) => {
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

  it('passes while the journal is turned off and on, when it is asked in between', () => {
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
