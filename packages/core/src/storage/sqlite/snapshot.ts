import type { SqliteDatabase } from './database.js';
import { transactionsOf } from './transactions.js';

/** Lets several reads see the same state, whatever other connections commit meanwhile. */
export function inSnapshot<T>(database: SqliteDatabase, read: () => T): T {
  const { begin, commit } = transactionsOf(database);
  begin.run();
  try {
    return read();
  } finally {
    // SQLite ends the transaction itself after some faults.
    if (database.inTransaction) commit.run();
  }
}
