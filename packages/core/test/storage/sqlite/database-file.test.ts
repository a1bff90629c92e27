import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { until } from '../../../../../test/until.js';
import { createFileCheck, skipIfDirectoryUnchanged } from '../../../src/storage/sqlite/database-file.js';
import { createWriteQueue } from '../../../src/storage/sqlite/write-queue.js';
import { unavailable } from '../samples.js';
import { temporaryDirectory } from '../temporary-directory.js';

/** Whatever has happened in a folder is long ago by this clock. */
const later = () => Date.now() + 60_000;

let directory: ReturnType<typeof temporaryDirectory>;
let folder: string;

beforeEach(() => {
  directory = temporaryDirectory();
  folder = join(directory.path, 'data');
  mkdirSync(folder);
});

afterEach(() => directory.remove());

/** The clocks of file systems have ticks, of 10 ms at the most where tests run: within one the folder would look the same. */
async function nextTick(): Promise<void> {
  const { ctimeMs } = statSync(folder);
  await until(() => Date.now() > ctimeMs + 20);
}

const at = (name: string) => join(folder, name);

function replaceByCopy(path: string): void {
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
}

describe('a check of the files in a folder', () => {
  let checks: number;
  let passes: boolean;

  beforeEach(() => {
    checks = 0;
    passes = true;
    writeFileSync(at('file'), 'content');
  });

  function check(): void {
    checks++;
    if (!passes) throw new Error('not in place');
  }

  it('is made once while nothing happens to the names, whatever is written', () => {
    const checkIfMoved = skipIfDirectoryUnchanged(folder, check, later);
    checkIfMoved();
    writeFileSync(at('file'), 'other content');
    checkIfMoved();
    expect(checks).toBe(1);
  });

  const MOVES: readonly (readonly [string, () => void])[] = [
    ['is added', () => writeFileSync(at('other'), '')],
    ['is removed', () => rmSync(at('file'))],
    ['is renamed', () => renameSync(at('file'), at('other'))],
    ['is linked', () => linkSync(at('file'), at('other'))],
    [
      'is replaced',
      () => {
        copyFileSync(at('file'), join(directory.path, 'copy'));
        renameSync(join(directory.path, 'copy'), at('file'));
      },
    ],
    ['is in a folder that is moved away', () => renameSync(folder, `${folder}-old`)],
    [
      'is in a folder that is replaced',
      () => {
        renameSync(folder, `${folder}-old`);
        mkdirSync(folder);
      },
    ],
  ];

  it.each(MOVES)('is made again when a file %s', async (_, move) => {
    const checkIfMoved = skipIfDirectoryUnchanged(folder, check, later);
    await nextTick();
    checkIfMoved();
    move();
    checkIfMoved();
    expect(checks).toBe(2);
  });

  it('is made every time while it does not pass', () => {
    const checkIfMoved = skipIfDirectoryUnchanged(folder, check, later);
    checkIfMoved();
    passes = false;
    rmSync(at('file'));
    expect(checkIfMoved).toThrow('not in place');
    expect(checkIfMoved).toThrow('not in place');
    expect(checks).toBe(3);
  });

  it('is made every time while the last move is so recent that the next might have the same time', () => {
    const checkIfMoved = skipIfDirectoryUnchanged(folder, check, () => statSync(folder).ctimeMs + 2_000);
    checkIfMoved();
    checkIfMoved();
    expect(checks).toBe(2);
  });

  it('is made every time while the folder seems to be changed in the future', () => {
    const checkIfMoved = skipIfDirectoryUnchanged(folder, check, () => Date.now() - 60_000);
    checkIfMoved();
    checkIfMoved();
    expect(checks).toBe(2);
  });
});

describe('the check of an open database, when its folder has long been as it is', () => {
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

  it.each(LOSSES)('fails as soon as %s', async (_, lose) => {
    const requireFile = createFileCheck(database, later);
    await nextTick();
    requireFile();
    lose();
    expect(requireFile).toThrow(expect.objectContaining(unavailable));
    expect(requireFile).toThrow(expect.objectContaining(unavailable));
  });

  it.each(LOSSES)('leaves the outcome of a commit unknown during which %s', async (_, lose) => {
    const requireFile = createFileCheck(database, later);
    const connection = { database, busyTimeout: 1000, isHosts: true };
    const queue = createWriteQueue(connection, { begun: requireFile, committed: requireFile });
    await nextTick();
    const outcome = queue.run(() => {
      database.exec("INSERT INTO notes VALUES ('lost?')");
      lose();
    });
    await expect(outcome).rejects.toMatchObject({ code: 'outcome_unknown' });
    await expect(queue.run(() => undefined)).rejects.toMatchObject(unavailable);
  });

  it('passes again when the file is put back', async () => {
    const requireFile = createFileCheck(database, later);
    await nextTick();
    requireFile();
    renameSync(path, `${path}.old`);
    expect(requireFile).toThrow(expect.objectContaining(unavailable));
    renameSync(`${path}.old`, path);
    requireFile();
  });

  it('passes while the journal is turned off and on, when it is asked in between', async () => {
    const requireFile = createFileCheck(database, later);
    await nextTick();
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
