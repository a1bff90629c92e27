import { setImmediate, setTimeout } from 'node:timers/promises';
import type { Awaitable } from '../../base/common.types.js';
import { FlagsError, isFlagsError } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { beginSlice } from '../../base/paced.js';

/*
 * The connection to a SQLite database: statements, reads while it is busy, and the queue of its writes.
 */

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
  close(): unknown;
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
  /** The maximum wait for a lock, in milliseconds. */
  readonly busyTimeout: number;
  /** Whether the host opened the connection and uses it too. */
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

/** Caches prepared statements by their text, for statements with few forms. */
export function statementsByText(database: SqliteDatabase, prepareOne = prepareRaw): (sql: string) => SqliteStatement {
  const prepared = new Map<string, SqliteStatement>();
  return (sql) => {
    const statement = prepared.get(sql) ?? prepareOne(database, sql);
    prepared.set(sql, statement);
    return statement;
  };
}

/** Returns the path of the main database file; '' for a database in memory. */
export function pathOf(database: SqliteDatabase): string {
  const databases = database.pragma('database_list') as readonly { readonly name: string; readonly file: string }[];
  return databases.find(({ name }) => name === 'main')?.file ?? '';
}

/** Runs several reads on one consistent state, independent of concurrent commits. */
export function inSnapshot<T>(database: SqliteDatabase, read: () => T): T {
  database.exec('BEGIN');
  try {
    return read();
  } finally {
    // SQLite ends the transaction itself after some errors.
    if (database.inTransaction) database.exec('COMMIT');
  }
}

const DAMAGED = 'The file of the SQLite database is damaged, restore it from a backup';

const REASONS: readonly { readonly codes: RegExp; readonly reason: string }[] = [
  {
    codes: /^SQLITE_FULL/,
    reason: 'The disk of the SQLite database is full, or the database has reached its maximum size',
  },
  { codes: /^SQLITE_READONLY/, reason: 'The SQLite database cannot be written to at the moment' },
  { codes: /^SQLITE_(NOTADB|CORRUPT)/, reason: DAMAGED },
  { codes: /^SQLITE_CANTOPEN/, reason: 'A file of the SQLite database cannot be opened' },
  { codes: /^SQLITE_(IOERR|PERM|PROTOCOL|NOLFS)/, reason: 'The disk of the SQLite database fails' },
];

/**
 * Turns a driver error of a failing disk into `storage_unavailable`, with the driver error as its cause. Returns other
 * errors unchanged. SQLite rolls back the interrupted statement or transaction.
 */
function explainRunning(error: unknown): unknown {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (error instanceof SyntaxError) return unavailable(`${DAMAGED}: it contains text that is not JSON`, error);
  if (typeof code !== 'string') return error;
  const known = REASONS.find(({ codes }) => codes.test(code));
  if (known) return unavailable(known.reason, error);
  const isWithoutTables = code === 'SQLITE_ERROR' && String(message).startsWith('no such table');
  return isWithoutTables ? unavailable('The tables are no longer in the SQLite database', error) : error;
}

/** @param reason a sentence without a full stop */
export function unavailable(reason: string, cause?: unknown): FlagsError {
  const message = `${reason}. Nothing was changed; try again when this is fixed.`;
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
    await delay();
    assertOpen(connection);
    const outcome = readUnlessBusy(connection, read);
    if (outcome !== 'busy') return outcome.value;
  }
  throw busyError(connection);
}

function readUnlessBusy<T>(connection: Connection, read: () => T): { readonly value: T } | 'busy' {
  if (!connection.isHosts) return runUnlessBusy(connection, read);
  return runUnlessBusy(connection, () => {
    // With an open iterator the driver would read an old snapshot. `exec` throws then, even for an empty text.
    connection.database.exec('');
    return read();
  });
}

/** Returns the result of `work`, or `'busy'` if the connection cannot be used now. Throws explained driver errors. */
function runUnlessBusy<T>({ database }: Connection, work: () => T): { readonly value: T } | 'busy' {
  if (database.inTransaction) return 'busy';
  try {
    return { value: work() };
  } catch (error) {
    if (isBusy(error)) return 'busy';
    throw explainRunning(error);
  }
}

/** Waits between two attempts, for a random time, so that waiting processes do not retry in step. */
async function delay(): Promise<void> {
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
export function isBusy(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return code.startsWith('SQLITE_BUSY');
  return typeof message === 'string' && message.endsWith('is busy executing a query');
}

/** Rolls back without throwing, so that the caller reports the first fault. SQLite rolls back itself after some faults. */
function rollBack(database: SqliteDatabase): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK');
  } catch {
    // The disk failed again. The journal rolls back when the database is next used.
  }
}

/**
 * Returns the driver error if a failed COMMIT has certainly changed nothing, and `outcome_unknown` otherwise.
 *
 * After a failed flush, the write-ahead log may contain the whole transaction, with its commit mark. Connections ignore
 * it, and the next commit overwrites it. But recovery after a crash would apply it.
 */
function explainFailedCommit(database: SqliteDatabase, error: unknown): unknown {
  if (hasChangedNothing(database, error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return outcomeUnknown(`The disk of the SQLite database failed during a commit (${reason})`, error);
}

function outcomeUnknown(reason: string, cause: unknown): FlagsError {
  const message = `${reason}. The change may or may not have been made: read the state before you repeat the call.`;
  return new FlagsError('outcome_unknown', message, undefined, { cause });
}

/** True if the transaction is still open, or was not written completely and so has no commit mark. */
function hasChangedNothing(database: SqliteDatabase, error: unknown): boolean {
  if (database.inTransaction) return true;
  const { code } = (error ?? {}) as { code?: unknown };
  return code === 'SQLITE_FULL' || code === 'SQLITE_IOERR_WRITE';
}

/** Serializes the writes of a connection. Writes that arrive together share one transaction and one flush to disk. */
export interface WriteQueue {
  /**
   * Runs `work` in a `BEGIN IMMEDIATE` transaction. Resolves to the result of `work` after the commit.
   *
   * `work` must be synchronous, and must not begin or end transactions. If it throws, its writes are rolled back and the
   * promise rejects; other jobs are not affected. `work` may run again after a rollback, so it must not keep state.
   *
   * Safe to call concurrently; jobs run in the order of the calls.
   *
   * @param bytes what the job writes, to limit the size of a group; default 0
   * @throws FlagsError `storage_busy` (no lock within `busyTimeout`), `storage_unavailable` (the disk failed, nothing has
   * changed), `outcome_unknown` (the disk failed during the commit), `closed`
   * @example
   * const insert = prepare(database, 'INSERT INTO notes (text) VALUES (?)');
   * await writeQueue.run(() => insert.run('hello'));
   */
  run<T>(work: () => T, bytes?: number): Promise<T>;

  /** Rejects new jobs, and resolves when the queued jobs are done. Calling it again has no effect. */
  close(): Promise<void>;
}

interface Job {
  readonly work: () => unknown;
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
  /** Runs in its own transaction, because its group failed. */
  readonly alone: boolean;
}

/** Checks of each transaction. They throw if the database cannot be written to. */
export interface TransactionChecks {
  /** Runs first in the transaction, which is rolled back if it throws. */
  readonly begun: () => void;
  /** Runs after the commit and before it is acknowledged. If it throws, the outcome is unknown. */
  readonly committed: () => void;
}

const NO_CHECKS: TransactionChecks = { begun: () => undefined, committed: () => undefined };

interface Checked {
  readonly connection: Connection;
  readonly checks: TransactionChecks;
}

/** Maximum number of jobs per transaction, to limit how long it blocks the event loop and other processes. */
const LARGEST_GROUP = 256;

export function createWriteQueue(connection: Connection, checks = NO_CHECKS): WriteQueue {
  const jobs: Job[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;

  async function drain(): Promise<void> {
    while (jobs.length > 0) {
      await setImmediate();
      // The callers go on in this turn. They pause if the transaction has taken long.
      beginSlice();
      const group = nextGroup(jobs);
      const { again, busy } = runGroup({ connection, checks }, group);
      jobs.unshift(...again);
      if (busy) await delay();
    }
    draining = undefined;
  }

  return {
    run<T>(work: () => T, bytes = 0): Promise<T> {
      if (closed) return Promise.reject(new FlagsError('closed', 'The storage has been closed.'));
      return new Promise<T>((resolve, reject) => {
        const deadline = performance.now() + connection.busyTimeout;
        jobs.push({ work, bytes, resolve: resolve as Job['resolve'], reject, deadline, alone: false });
        draining ??= drain();
      });
    },
    async close() {
      closed = true;
      await draining;
    },
  };
}

/** Removes the jobs of the next transaction from the queue: at least one. A job that would exceed a bound ends the group. */
function nextGroup(jobs: Job[]): Job[] {
  let bytes = 0;
  const stop = jobs.findIndex((job, index) => {
    bytes += job.bytes;
    return job.alone || index === LARGEST_GROUP || bytes > LIMITS.changeSetBytes;
  });
  return jobs.splice(0, stop === -1 ? jobs.length : Math.max(stop, 1));
}

const DONE = { again: [], busy: false };

/** Settles the promises of the group, or returns the jobs to try again. */
function runGroup({ connection, checks }: Checked, group: readonly Job[]): { again: Job[]; busy: boolean } {
  try {
    assertOpen(connection);
    const outcome = runUnlessBusy(connection, () => transact({ connection, checks }, group));
    if (outcome === 'busy') return { again: rejectOverdue(connection, group), busy: true };
    group.forEach((job, index) => {
      job.resolve(outcome.value[index]);
    });
    return DONE;
  } catch (error) {
    if (group.length > 1 && !isOutcomeUnknown(error)) {
      return { again: group.map((job) => ({ ...job, alone: true })), busy: false };
    }
    for (const job of group) job.reject(error);
    return DONE;
  }
}

/** Runs all jobs in one transaction. If one throws, rolls back all of them. */
function transact({ connection: { database }, checks }: Checked, group: readonly Job[]): unknown[] {
  database.exec('BEGIN IMMEDIATE');
  try {
    checks.begun();
    const values = group.map((job) => job.work());
    commit(database, checks);
    return values;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

function commit(database: SqliteDatabase, { committed }: TransactionChecks): void {
  try {
    database.exec('COMMIT');
  } catch (error) {
    throw explainFailedCommit(database, error);
  }
  try {
    committed();
  } catch (error) {
    throw outcomeUnknown('A file of the SQLite database was removed or replaced during a commit', error);
  }
}

/** Prevents a retry of the group: if the retry failed too, it would wrongly report that nothing has changed. */
function isOutcomeUnknown(error: unknown): boolean {
  return isFlagsError(error) && error.code === 'outcome_unknown';
}

/** Rejects the jobs whose deadline has passed, and returns the others. */
function rejectOverdue(connection: Connection, group: readonly Job[]): Job[] {
  const now = performance.now();
  for (const job of group) if (now >= job.deadline) job.reject(busyError(connection));
  return group.filter(({ deadline }) => now < deadline);
}
