import { type BigIntStats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { unavailable } from './busy.js';
import type { SqliteDatabase } from './database.js';

/**
 * How old, in milliseconds, the last change of a folder has to be before its time tells changes apart: file systems keep times
 * to the nanosecond, to the tick of a clock (10 ms), or to one or two seconds.
 */
const SETTLED = 3_000;

/**
 * Gives a check of files in a folder that is made again only when a name in the folder may have been added, removed, renamed or
 * replaced since it last passed. That is told by the time at which the folder itself has changed, so it costs one `stat`
 * of the folder, and none of the files: since Linux 6.13 a file whose times have been asked for gets new ones with its next write,
 * to the nanosecond, and flushing the file has to write these as well.
 *
 * @param check throws when it does not pass
 * @param now milliseconds since 1970, by the clock of the file system
 */
export function unlessNamesMoved(folder: string, check: () => void, now: () => number = Date.now): () => void {
  let passed: BigIntStats | undefined;

  return () => {
    // Before the check: what moves meanwhile is found the next time.
    const found = look(folder);
    if (found && passed && isUnchanged(found, passed)) return;
    passed = undefined;
    check();
    if (found && now() - Number(found.ctimeMs) > SETTLED) passed = found;
  };
}

/** With nanoseconds, and inodes that may be larger than what a number keeps apart. Undefined when there is no way to it. */
function look(folder: string): BigIntStats | undefined {
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
 * Gives a check that the files of a database are still those which this connection has open. Whoever removes or replaces
 * them leaves the connection with files that no path leads to: what is written there is lost when they are closed, without
 * any error of SQLite. The check fails with `storage_unavailable`, until the files are back.
 *
 * Costs one `stat` of their folder, and two more while something happens in it. A database in memory is always in place.
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
    const isWritten = database.pragma('journal_mode', { simple: true }) === 'wal';
    // It comes with the first transaction, and goes when the host changes the journal of its handle: the next is another.
    log = isWritten ? (log ?? found) : undefined;
    return !isWritten || isSame(found, log);
  }

  function assertInPlace(): void {
    if (isSame(identityOf(path), file) && isLogInPlace()) return;
    throw unavailable(
      'The file of the SQLite database, or its -wal, has been removed or replaced while it was open: ' +
        'put it back, or restart this process to use what is there now',
    );
  }

  return unlessNamesMoved(dirname(path), assertInPlace, now);
}

/** Empty for a database in memory. */
export function pathOf(database: SqliteDatabase): string {
  const databases = database.pragma('database_list') as readonly { readonly name: string; readonly file: string }[];
  return databases.find(({ name }) => name === 'main')?.file ?? '';
}

/** No other file gets the same while this one is open. */
interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** Undefined when there is no file, or no way to it. */
function identityOf(path: string): Identity | undefined {
  try {
    return statSync(path, STAT);
  } catch {
    return undefined;
  }
}

/** Inodes may be larger than what a number keeps apart. */
const STAT = { bigint: true, throwIfNoEntry: false } as const;

function isSame(one: Identity | undefined, other: Identity | undefined): boolean {
  return one?.ino === other?.ino && one?.dev === other?.dev;
}
