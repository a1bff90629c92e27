/**
 * What the library needs of a `better-sqlite3` database, typed by its structure: core does not depend on the driver,
 * and the host passes the handle that it already has.
 */
export interface SqliteDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  pragma(source: string, options?: { simple?: boolean }): unknown;
  /** Needed for backups alone. */
  backup?(path: string, options: { progress: (progress: BackupProgress) => number }): Promise<unknown>;
  close(): unknown;
}

/** How far a backup is; the answer is how many pages to copy next. */
export interface BackupProgress {
  readonly totalPages: number;
  readonly remainingPages: number;
}

/** A prepared statement of {@link SqliteDatabase}. */
export interface SqliteStatement {
  run(...parameters: unknown[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  get(...parameters: unknown[]): unknown;
  /** Test runners that isolate tests see an array of another realm: give callers a copy made with `Array.from`. */
  all(...parameters: unknown[]): unknown[];
  safeIntegers(toggle?: boolean): unknown;
  /** Rows as arrays, which cost less to make than objects. */
  raw(toggle?: boolean): unknown;
  /** The first column alone. */
  pluck(toggle?: boolean): unknown;
}

/** One database connection, and how long (in milliseconds) work may wait while another connection holds the lock. */
export interface Connection {
  readonly database: SqliteDatabase;
  readonly busyTimeout: number;
  /** The host works on it as well. */
  readonly isHosts?: boolean;
}

/**
 * Prepares a statement that gives integers as numbers, also where the host made `bigint` the default of its handle.
 * Every integer that the library stores is a safe one.
 */
export function prepare(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement = database.prepare(sql);
  statement.safeIntegers(false);
  return statement;
}

/** Prepares a statement whose rows are arrays of their columns: for what is read often, or in long lists. */
export function prepareRaw(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement = prepare(database, sql);
  statement.raw();
  return statement;
}

/** Prepares a statement whose rows are the value of their only column. */
export function preparePluck(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement = prepare(database, sql);
  statement.pluck();
  return statement;
}

/** Prepares each text once, with rows as arrays; for statements whose few texts differ by what a query names. */
export function statementsByText(database: SqliteDatabase): (sql: string) => SqliteStatement {
  const prepared = new Map<string, SqliteStatement>();
  return (sql) => {
    const statement = prepared.get(sql) ?? prepareRaw(database, sql);
    prepared.set(sql, statement);
    return statement;
  };
}

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
