import { prepare, type SqliteDatabase } from './database.js';

/**
 * Reads what moves with every change of the database: SQLite counts the rows that this connection has changed, and tells
 * whether any other connection has committed.
 */
export function stampReader(database: SqliteDatabase): () => string {
  const own = prepare(database, 'SELECT total_changes() AS changes');
  const others = prepare(database, 'PRAGMA data_version');
  return () => {
    const { changes } = own.get() as { readonly changes: number };
    const { data_version: version } = others.get() as { readonly data_version: number };
    return `${version}.${changes}`;
  };
}
