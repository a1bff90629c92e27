import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SqliteDatabase } from './database.js';
import { unavailable } from './running-faults.js';
import { unlessNamesMoved } from './unless-names-moved.js';

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

  function requireInPlace(): void {
    if (isSame(identityOf(path), file) && isLogInPlace()) return;
    throw unavailable(
      'The file of the SQLite database, or its -wal, has been removed or replaced while it was open: ' +
        'put it back, or restart this process to use what is there now',
    );
  }

  return unlessNamesMoved(dirname(path), requireInPlace, now);
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
