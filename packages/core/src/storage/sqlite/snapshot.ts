import type { SqliteDatabase } from './database.js';

/** Lets several reads see the same state, whatever other connections commit meanwhile. */
export function inSnapshot<T>(database: SqliteDatabase, read: () => T): T {
  database.exec('BEGIN');
  try {
    return read();
  } finally {
    // SQLite ends the transaction itself after some faults.
    if (database.inTransaction) database.exec('COMMIT');
  }
}
