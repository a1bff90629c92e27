import { setImmediate } from 'node:timers/promises';
import { FlagsError, isFlagsError } from '../../errors.js';
import { assertOpen, busyError, pause, unlessBusy } from './busy.js';
import { type Connection, type SqliteDatabase, transactionsOf } from './database.js';

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

/** The one way to write to a connection: writes that arrive together share a transaction and a flush to disk. */
export interface WriteQueue {
  /**
   * Runs `work` inside a `BEGIN IMMEDIATE` transaction and resolves to what it returns once the transaction is
   * committed. `work` must be synchronous and must not begin or end transactions. When it throws, everything it wrote is
   * undone and the promise rejects; others are not affected. It may be run again after an undone attempt, so it must
   * keep no state of its own between runs.
   *
   * Rejects with `storage_busy` when the lock cannot be had within the connection's `busyTimeout`, with `outcome_unknown`
   * when the disk fails so that nobody can tell whether the transaction is committed, with `closed` after
   * {@link WriteQueue.close}.
   *
   * @param onBusy called whenever an attempt has found the connection busy and another follows
   * @example
   * const insert = prepare(database, 'INSERT INTO notes (text) VALUES (?)');
   * await writeQueue.run(() => insert.run('hello'));
   */
  run<T>(work: () => T, onBusy?: () => void): Promise<T>;

  /** Takes no more work and resolves when what was queued is done. Calling it again does nothing. */
  close(): Promise<void>;
}

interface Job {
  readonly work: () => unknown;
  readonly onBusy: () => void;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
  /** It was in a group that failed, so it gets a transaction of its own. */
  readonly alone: boolean;
}

interface Guarded {
  readonly connection: Connection;
  readonly guard: () => void;
}

/** Bounds how long one transaction keeps the event loop and other processes waiting. */
const LARGEST_GROUP = 256;

/**
 * @param guard runs within each transaction before its work; when it throws, nothing of the transaction is done
 */
export function createWriteQueue(connection: Connection, guard: () => void = () => undefined): WriteQueue {
  const jobs: Job[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;

  async function drain(): Promise<void> {
    while (jobs.length > 0) {
      await setImmediate();
      const group = nextGroup(jobs);
      const outcome = settle({ connection, guard }, group);
      if (outcome === 'done') continue;
      jobs.unshift(...outcome.again);
      if (outcome.busy) await pause();
    }
    draining = undefined;
  }

  return {
    run<T>(work: () => T, onBusy = () => undefined): Promise<T> {
      if (closed) return Promise.reject(new FlagsError('closed', 'The storage has been closed.'));
      return new Promise<T>((resolve, reject) => {
        const deadline = performance.now() + connection.busyTimeout;
        jobs.push({ work, onBusy, resolve: resolve as Job['resolve'], reject, deadline, alone: false });
        draining ??= drain();
      });
    },
    async close() {
      closed = true;
      await draining;
    },
  };
}

/** Takes the jobs that are to share the next transaction off the queue. */
function nextGroup(jobs: Job[]): Job[] {
  const stop = jobs.findIndex((job, index) => job.alone || index === LARGEST_GROUP);
  return jobs.splice(0, stop === -1 ? jobs.length : Math.max(stop, 1));
}

/** Answers every job of the group, or says which have to be tried again. */
function settle({ connection, guard }: Guarded, group: readonly Job[]): 'done' | { again: Job[]; busy: boolean } {
  try {
    assertOpen(connection);
    const outcome = unlessBusy(connection, () => transact({ connection, guard }, group));
    if (outcome === 'busy') return { again: withoutOverdue(connection, group), busy: true };
    group.forEach((job, index) => {
      job.resolve(outcome.value[index]);
    });
    return 'done';
  } catch (error) {
    if (group.length > 1 && !isOfUnknownOutcome(error)) {
      return { again: group.map((job) => ({ ...job, alone: true })), busy: false };
    }
    for (const job of group) job.reject(error);
    return 'done';
  }
}

/** Runs the jobs in one transaction: all of them, or none when any throws. */
function transact({ connection: { database }, guard }: Guarded, group: readonly Job[]): unknown[] {
  transactionsOf(database).beginImmediate.run();
  try {
    guard();
    const values = group.map((job) => job.work());
    commit(database);
    return values;
  } catch (error) {
    undo(database);
    throw error;
  }
}

function commit(database: SqliteDatabase): void {
  try {
    transactionsOf(database).commit.run();
  } catch (error) {
    throw explainFailedCommit(database, error);
  }
}

/** Were they tried again, and failed before a commit, they would be told that nothing has happened. */
function isOfUnknownOutcome(error: unknown): boolean {
  return isFlagsError(error) && error.code === 'outcome_unknown';
}

/** Gives up on the jobs that have waited long enough. */
function withoutOverdue(connection: Connection, group: readonly Job[]): Job[] {
  const now = performance.now();
  return group.filter((job) => {
    if (now < job.deadline) {
      job.onBusy();
      return true;
    }
    job.reject(busyError(connection));
    return false;
  });
}
