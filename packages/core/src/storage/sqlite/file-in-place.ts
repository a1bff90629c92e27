import { type BigIntStats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { unavailable } from './busy.js';
import type { SqliteDatabase } from './database.js';

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
 * Returns a check that throws `storage_unavailable` unless the database path and its `-wal` are the files that this
 * connection has open.
 *
 * If another program removes or replaces them, SQLite reports no error: it writes to files without a name, and the
 * commits are lost when the connection closes. A database in memory always passes.
 */
export function createFileCheck(database: SqliteDatabase, now?: () => number): () => void {
  const path = pathOf(database);
  if (path === '') return () => undefined;
  const logPath = `${path}-wal`;
  const file = identityOf(path);
  let log = identityOf(logPath);

  function isLogInPlace(): boolean {
    const found = identityOf(logPath);
    if (isSame(found, log)) return true;
    const hasLog = database.pragma('journal_mode', { simple: true }) === 'wal';
    // The first transaction creates the log. Changing the journal mode removes it; the next log is a new file.
    log = hasLog ? (log ?? found) : undefined;
    return !hasLog || isSame(found, log);
  }

  function assertInPlace(): void {
    if (isSame(identityOf(path), file) && isLogInPlace()) return;
    throw unavailable(
      'The file of the SQLite database, or its -wal, has been removed or replaced while it was open: ' +
        'put it back, or restart this process to use what is there now',
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
