import { setTimeout } from 'node:timers/promises';
import type { Awaitable } from '../../base/common.types.js';
import { FlagsError } from '../../errors.js';

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

const DAMAGED = 'The file of the SQLite database is damaged, restore it from a backup';

const REASONS: readonly { readonly codes: RegExp; readonly reason: string }[] = [
  { codes: /^SQLITE_FULL/, reason: 'The disk of the SQLite database is full, or the database as large as it may be' },
  { codes: /^SQLITE_READONLY/, reason: 'The SQLite database cannot be written to at the moment' },
  { codes: /^SQLITE_(NOTADB|CORRUPT)/, reason: DAMAGED },
  { codes: /^SQLITE_CANTOPEN/, reason: 'A file of the SQLite database cannot be opened' },
  { codes: /^SQLITE_(IOERR|PERM|PROTOCOL|NOLFS)/, reason: 'The disk of the SQLite database fails' },
];

/**
 * Turns a driver error of a failing disk into `storage_unavailable`, with the driver error as its cause. Returns other errors
 * unchanged. SQLite rolls back what such a fault interrupts.
 */
function explainRunning(error: unknown): unknown {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (error instanceof SyntaxError) return unavailable(`${DAMAGED}: it holds a text that is not JSON`, error);
  if (typeof code !== 'string') return error;
  const known = REASONS.find(({ codes }) => codes.test(code));
  if (known) return unavailable(known.reason, error);
  const isWithoutTables = code === 'SQLITE_ERROR' && String(message).startsWith('no such table');
  return isWithoutTables ? unavailable('The tables are no longer in the SQLite database', error) : error;
}

/** @param reason a sentence without a full stop */
export function unavailable(reason: string, cause?: unknown): FlagsError {
  const message = `${reason}. Nothing was changed; try again when that is put right.`;
  return new FlagsError('storage_unavailable', message, undefined, cause === undefined ? undefined : { cause });
}

/**
 * Runs a synchronous read at once and returns its result, or a promise if the connection is busy.
 *
 * The connection is busy while another connection holds the lock, and while the host has a transaction or an iterator open
 * on it: a read inside them could return an older state than an acknowledged one. Rejects with `storage_busy` after
 * `busyTimeout`, and with `closed` if the host has closed the database.
 */
export function readWhenFree<T>(connection: Connection, read: () => T): Awaitable<T> {
  try {
    assertOpen(connection);
    const outcome = readUnlessBusy(connection, read);
    return outcome === 'busy' ? readLater(connection, read) : outcome.value;
  } catch (error) {
    return Promise.reject(error);
  }
}

async function readLater<T>(connection: Connection, read: () => T): Promise<T> {
  const deadline = performance.now() + connection.busyTimeout;
  while (performance.now() < deadline) {
    await pause();
    assertOpen(connection);
    const outcome = readUnlessBusy(connection, read);
    if (outcome !== 'busy') return outcome.value;
  }
  throw busyError(connection);
}

function readUnlessBusy<T>(connection: Connection, read: () => T): { readonly value: T } | 'busy' {
  if (!connection.isHosts) return unlessBusy(connection, read);
  return unlessBusy(connection, () => {
    // Beside an open iterator the driver would read its old snapshot. It refuses to execute anything, even an empty text.
    connection.database.exec('');
    return read();
  });
}

/** Returns the result of `work`, or `'busy'` if the connection cannot be used now. Throws explained driver errors. */
export function unlessBusy<T>({ database }: Connection, work: () => T): { readonly value: T } | 'busy' {
  if (database.inTransaction) return 'busy';
  try {
    return { value: work() };
  } catch (error) {
    if (isBusy(error)) return 'busy';
    throw explainRunning(error);
  }
}

/** Waits between two attempts, for a random time, so that waiting processes do not retry in step. */
export async function pause(): Promise<void> {
  await setTimeout(5 + Math.random() * 20);
}

/** Throws `closed` if the host has closed the database that the storage uses. */
export function assertOpen({ database }: Connection): void {
  if (!database.open) throw new FlagsError('closed', 'The SQLite database has been closed.');
}

export function busyError({ busyTimeout }: Connection): FlagsError {
  return new FlagsError(
    'storage_busy',
    `The SQLite database stayed locked for ${busyTimeout} ms, by another connection, or by a transaction or an iterator ` +
      'left open on this one. Nothing was changed; try again, or raise busyTimeout.',
  );
}

/**
 * Returns whether another connection holds the lock, or the host iterates over a query on this one. Compares code and
 * text, because driver errors may come from another realm.
 */
function isBusy(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return code.startsWith('SQLITE_BUSY');
  return typeof message === 'string' && message.endsWith('is busy executing a query');
}
