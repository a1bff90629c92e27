import { FlagsError } from '../../errors.js';
import type { SqliteDatabase } from './database.js';

/** SQLite ends the transaction itself after some faults, a full disk among them. The first fault is the one to tell. */
export function undo(database: SqliteDatabase): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK');
  } catch {
    // A disk that fails once may fail again; the journal undoes the rest.
  }
}

/**
 * What to tell of a COMMIT that failed: the fault itself where nothing can have come of the transaction, `outcome_unknown`
 * where that cannot be known.
 *
 * No connection sees what it wrote, but all of it may be in the write-ahead log, with the mark of a commit: then a crash
 * would bring it to light. So another transaction is written in its place, which puts an end to it.
 */
export function explainFailedCommit(database: SqliteDatabase, error: unknown): unknown {
  if (isUndone(database, error) || writeOver(database)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  const message =
    `The disk of the SQLite database failed in the middle of a commit (${reason}), and what became of it cannot be ` +
    'told: look before you repeat it, once the disk works again.';
  return new FlagsError('outcome_unknown', message, undefined, { cause: error });
}

/**
 * Whether nothing of it can be in the log: a transaction that is still open is undone by its end, and one that could not be
 * written to its last byte has no mark of a commit.
 */
function isUndone(database: SqliteDatabase, error: unknown): boolean {
  if (database.inTransaction) return true;
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_WRITE';
}

/** Writes the first page anew as it is. In other journals than the write-ahead log that would prove nothing. */
function writeOver(database: SqliteDatabase): boolean {
  try {
    if (database.pragma('journal_mode', { simple: true }) !== 'wal') return false;
    database.exec('BEGIN IMMEDIATE');
    database.pragma(`user_version = ${database.pragma('user_version', { simple: true })}`);
    database.exec('COMMIT');
    return true;
  } catch {
    undo(database);
    return false;
  }
}
