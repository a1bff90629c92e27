import { type BigIntStats, closeSync, existsSync, openSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { FlagsError } from '../../errors.js';
import { preparePluck, type SqliteDatabase, unavailable } from './database.js';
import { MIGRATIONS } from './migrations.js';

/** Only the owner may read and write, because the database holds token hashes and the event log. */
const OWNER_ONLY = 0o600;
/** The number of symbolic links that SQLite follows. */
const MOST_LINKS = 100;

/**
 * Creates an empty file that only its owner can read. An existing file keeps its mode.
 *
 * SQLite opens an empty file as a new database, and gives its mode to the journal, `-wal` and `-shm`. The function never opens
 * an existing file: closing it would release the locks that other connections of this process hold. It never throws:
 * SQLite reports the same fault when it opens the path.
 */
export function createPrivateFile(path: string): void {
  let target = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const outcome = tryToCreate(target);
    if (outcome !== 'taken' || existsSync(target)) return;
    const next = targetOfLink(target);
    if (next === undefined) return;
    target = next;
  }
}

function tryToCreate(path: string): 'created' | 'taken' | 'failed' {
  try {
    closeSync(openSync(path, 'wx', OWNER_ONLY));
    return 'created';
  } catch (error) {
    return (error as { code?: unknown }).code === 'EEXIST' ? 'taken' : 'failed';
  }
}

/** Returns the target of a symbolic link whose target does not exist yet. */
function targetOfLink(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}

/**
 * Minimum age, in milliseconds, of a directory's change time before two equal times prove that nothing has changed. Some
 * file systems store times with a resolution of two seconds.
 */
const SETTLED = 3_000;

/**
 * Wraps a check of files so that it runs only if their directory has changed since the check last passed. Adding, removing,
 * renaming or replacing a file changes the directory.
 *
 * Reads the time of the directory alone. On Linux 6.13 and newer, reading the times of a file makes its next write change
 * them, and the next flush has to write them too.
 *
 * @param check throws if a file is not in place
 * @param now milliseconds since 1970, by the clock of the file system
 */
export function skipIfDirectoryUnchanged(folder: string, check: () => void, now: () => number = Date.now): () => void {
  let passed: BigIntStats | undefined;

  return () => {
    // Read before the check, so that the next call notices a change during the check.
    const found = directoryState(folder);
    if (found && passed && isUnchanged(found, passed)) return;
    passed = undefined;
    check();
    if (found && now() - Number(found.ctimeMs) > SETTLED) passed = found;
  };
}

/** Undefined if the directory cannot be reached. */
function directoryState(folder: string): BigIntStats | undefined {
  try {
    return statSync(folder, { bigint: true });
  } catch {
    return undefined;
  }
}

function isUnchanged(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev && one.ctimeNs === other.ctimeNs;
}

/**
 * Returns a check that throws `storage_unavailable` unless the database path, its `-wal` and its `-shm` are the files that
 * this connection has open.
 *
 * If another program removes or replaces them, SQLite reports no error. Without the path or its `-wal`, it writes to files
 * without a name, and the commits are lost when the connection closes. Without the `-shm`, the next process creates another
 * one: the two no longer see each other's locks, and overwrite each other's commits. A database in memory always passes.
 */
export function createFileCheck(database: SqliteDatabase, now?: () => number): () => void {
  const path = pathOf(database);
  if (path === '') return () => undefined;
  const logPaths = [`${path}-wal`, `${path}-shm`];
  const file = identityOf(path);
  let logs = logPaths.map(identityOf);

  function areLogsInPlace(): boolean {
    const found = logPaths.map(identityOf);
    const areSame = () => found.every((one, index) => isSame(one, logs[index]));
    if (areSame()) return true;
    const hasLog = database.pragma('journal_mode', { simple: true }) === 'wal';
    // The first transaction creates both. Changing the journal mode removes them; the next ones are new files.
    logs = found.map((one, index) => (hasLog ? (logs[index] ?? one) : undefined));
    return !hasLog || areSame();
  }

  function assertInPlace(): void {
    if (isSame(identityOf(path), file) && areLogsInPlace()) return;
    throw unavailable(
      'The file of the SQLite database, its -wal or its -shm has been removed or replaced while it was open: ' +
        'put it back, or restart every process that has the database open',
    );
  }

  return skipIfDirectoryUnchanged(dirname(path), assertInPlace, now);
}

/** Path of the main database file; empty for a database in memory. */
export function pathOf(database: SqliteDatabase): string {
  const databases = database.pragma('database_list') as readonly { readonly name: string; readonly file: string }[];
  return databases.find(({ name }) => name === 'main')?.file ?? '';
}

/** Device and inode: unique while the file is open. */
interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Undefined if the file does not exist or cannot be reached. */
function identityOf(path: string): Identity | undefined {
  try {
    return statSync(path, STAT);
  } catch {
    return undefined;
  }
}

/** `bigint`, because inodes may exceed the safe integers. */
const STAT = { bigint: true, throwIfNoEntry: false } as const;

function isSame(one: Identity | undefined, other: Identity | undefined): boolean {
  return one?.ino === other?.ino && one?.dev === other?.dev;
}

/**
 * Migrates the tables to the newest version. Must run in a write transaction, so that only one of several processes
 * migrates a file. Throws `storage_unsupported` if a newer version of the library has migrated the tables.
 */
export function migrate(database: SqliteDatabase, prefix: string): void {
  const version = readVersion(database, prefix);
  if (version > MIGRATIONS.length) throw newerSchema(version, prefix);
  // Changes nothing, but fails on a read-only database. BEGIN IMMEDIATE succeeds there.
  database.exec(`DELETE FROM ${prefix}meta WHERE false`);
  if (version === MIGRATIONS.length) return;
  for (const step of MIGRATIONS.slice(version)) database.exec(step(prefix));
  database
    .prepare(`INSERT OR REPLACE INTO ${prefix}meta (name, value) VALUES ('schema_version', ?)`)
    .run(MIGRATIONS.length);
}

/**
 * Returns a check that throws `storage_unsupported` if a newer version of the library has migrated the tables: the
 * statements of this version may not fit them.
 */
export function createVersionCheck(database: SqliteDatabase, prefix: string): () => void {
  const find = preparePluck(database, versionQuery(prefix));
  return () => {
    const version = (find.get() as number | undefined) ?? 0;
    if (version > MIGRATIONS.length) throw newerSchema(version, prefix);
  };
}

/** Throws `storage_unsupported` if a migration is due. Changes nothing. */
export function assertMigrated(database: SqliteDatabase, prefix: string): void {
  const tables = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '${prefix}meta' COLLATE NOCASE`;
  const hasTables = preparePluck(database, tables).get() !== undefined;
  const version = hasTables ? ((preparePluck(database, versionQuery(prefix)).get() as number | undefined) ?? 0) : 0;
  if (version < MIGRATIONS.length) throw olderSchema(version, prefix);
}

function readVersion(database: SqliteDatabase, prefix: string): number {
  database.exec(`
    CREATE TABLE IF NOT EXISTS ${prefix}meta (
      name TEXT NOT NULL PRIMARY KEY,
      value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
  `);
  return (preparePluck(database, versionQuery(prefix)).get() as number | undefined) ?? 0;
}

function versionQuery(prefix: string): string {
  return `SELECT value FROM ${prefix}meta WHERE name = 'schema_version'`;
}

export function olderSchema(version: number, prefix: string): FlagsError {
  const state = version > 0 ? `have schema version ${version}` : 'do not exist';
  return new FlagsError(
    'storage_unsupported',
    `The tables ${prefix}* ${state}, and this version of the library needs ${MIGRATIONS.length}. ` +
      'Open the storage once without migrate: false.',
  );
}

function newerSchema(version: number, prefix: string): FlagsError {
  return new FlagsError(
    'storage_unsupported',
    `The tables ${prefix}* have schema version ${version}, and this version of the library knows ${MIGRATIONS.length}. ` +
      'Install the newer version of the library that made them.',
  );
}
