import { preparePluck, type SqliteDatabase } from './database.js';

/**
 * Reads what moves with every change of the database: SQLite counts the rows that this connection has changed, and tells
 * whether any other connection has committed.
 */
export function stampReader(database: SqliteDatabase): () => string {
  const own = preparePluck(database, 'SELECT total_changes()');
  const others = preparePluck(database, 'PRAGMA data_version');
  return () => `${others.get()}.${own.get()}`;
}
