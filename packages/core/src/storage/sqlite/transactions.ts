import type { SqliteDatabase, SqliteStatement } from './database.js';

/** The statements that begin and end transactions, prepared: they are run more often than any other. */
export interface Transactions {
  /** Begins one that takes the lock for writing with its first statement, or never. */
  readonly begin: SqliteStatement;
  /** Begins one that takes the lock for writing at once. */
  readonly beginImmediate: SqliteStatement;
  readonly commit: SqliteStatement;
}

const prepared = new WeakMap<SqliteDatabase, Transactions>();

/** Prepares them once for each database. */
export function transactionsOf(database: SqliteDatabase): Transactions {
  const known = prepared.get(database);
  if (known) return known;
  const statements = {
    begin: database.prepare('BEGIN'),
    beginImmediate: database.prepare('BEGIN IMMEDIATE'),
    commit: database.prepare('COMMIT'),
  };
  prepared.set(database, statements);
  return statements;
}
