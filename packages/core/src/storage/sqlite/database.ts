/**
 * The part of a `better-sqlite3` database that the library uses. Typed by structure, because core does not depend on the
 * driver and hosts pass their own handle.
 */
export interface SqliteDatabase {
  readonly open: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  pragma(source: string, options?: { simple?: boolean }): unknown;
  /** Needed for backups only. */
  backup?(path: string, options: { progress: (progress: BackupProgress) => number }): Promise<unknown>;
  close(): unknown;
}

/** Progress of a backup. The callback returns the number of pages to copy next. */
export interface BackupProgress {
  readonly totalPages: number;
  readonly remainingPages: number;
}

/** A prepared statement of {@link SqliteDatabase}. */
export interface SqliteStatement {
  run(...parameters: unknown[]): { readonly changes: number; readonly lastInsertRowid: number | bigint };
  get(...parameters: unknown[]): unknown;
  /** In isolated tests the array comes from another realm: return a copy made with `Array.from` to callers. */
  all(...parameters: unknown[]): unknown[];
  safeIntegers(toggle?: boolean): unknown;
  /** Returns rows as arrays, which are cheaper than objects. */
  raw(toggle?: boolean): unknown;
  /** Returns only the first column. */
  pluck(toggle?: boolean): unknown;
}

/** A database connection. */
export interface Connection {
  readonly database: SqliteDatabase;
  /** How long work waits for a lock, in milliseconds. */
  readonly busyTimeout: number;
  /** The host has opened the connection and uses it too. */
  readonly isHosts?: boolean;
}

/**
 * Prepares a statement that returns integers as numbers, even if the host made `bigint` the default of its handle. The
 * library stores safe integers only.
 */
export function prepare(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement = database.prepare(sql);
  statement.safeIntegers(false);
  return statement;
}

/** Prepares a statement that returns rows as arrays of columns, for frequent reads and long lists. */
export function prepareRaw(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement = prepare(database, sql);
  statement.raw();
  return statement;
}

/** Prepares a statement that returns the value of its only column. */
export function preparePluck(database: SqliteDatabase, sql: string): SqliteStatement {
  const statement = prepare(database, sql);
  statement.pluck();
  return statement;
}

/** The most rows that one statement of {@link prepareRows} writes. */
const ROWS_AT_ONCE = 32;

/**
 * Prepares the writing of rows, each a list of the values of `columns`. Several rows share a statement, because running one
 * takes longer than writing a row. Returns the number of rows that were inserted or updated.
 *
 * @param end SQL: what follows the values
 */
export function prepareRows(
  database: SqliteDatabase,
  { table, columns, end }: { readonly table: string; readonly columns: readonly string[]; readonly end: string },
): (rows: readonly (readonly unknown[])[]) => number {
  const row = `(${columns.map(() => '?').join(', ')})`;
  /** By the number of rows. */
  const statements: SqliteStatement[] = [];

  function statementFor(size: number): SqliteStatement {
    const values = Array.from({ length: size }, () => row).join(', ');
    return prepare(database, `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${values} ${end}`);
  }

  return (rows) => {
    let written = 0;
    for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
      const values: unknown[] = [];
      const end = Math.min(start + ROWS_AT_ONCE, rows.length);
      for (let index = start; index < end; index++) values.push(...(rows[index] ?? []));
      const statement = statements[end - start] ?? statementFor(end - start);
      statements[end - start] = statement;
      written += statement.run(...values).changes;
    }
    return written;
  };
}

/** Caches prepared statements by their text. For queries with few forms; rows are arrays. */
export function statementsByText(database: SqliteDatabase): (sql: string) => SqliteStatement {
  const prepared = new Map<string, SqliteStatement>();
  return (sql) => {
    const statement = prepared.get(sql) ?? prepareRaw(database, sql);
    prepared.set(sql, statement);
    return statement;
  };
}

/** The prepared statements that begin and end transactions. */
export interface Transactions {
  /** Begins a transaction that takes the write lock with its first write. */
  readonly begin: SqliteStatement;
  /** Begins a transaction that takes the write lock at once. */
  readonly beginImmediate: SqliteStatement;
  readonly commit: SqliteStatement;
}

const prepared = new WeakMap<SqliteDatabase, Transactions>();

/** Prepares the statements once per database. */
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

/** Runs several reads on one consistent state, whatever other connections commit meanwhile. */
export function inSnapshot<T>(database: SqliteDatabase, read: () => T): T {
  const { begin, commit } = transactionsOf(database);
  begin.run();
  try {
    return read();
  } finally {
    // SQLite has ended the transaction itself after some faults.
    if (database.inTransaction) commit.run();
  }
}
