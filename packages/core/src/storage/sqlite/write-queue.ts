import { setImmediate } from 'node:timers/promises';
import { LIMITS } from '../../base/limits.js';
import { FlagsError, isFlagsError } from '../../errors.js';
import {
  assertOpen,
  busyError,
  type Connection,
  pause,
  type SqliteDatabase,
  transactionsOf,
  unlessBusy,
} from './database.js';

/** Rolls back without throwing, so that the caller reports the first fault. SQLite rolls back itself after some faults. */
function rollBack(database: SqliteDatabase): void {
  try {
    if (database.inTransaction) database.exec('ROLLBACK');
  } catch {
    // The disk failed again. The journal undoes the rest when the database is next used.
  }
}

/**
 * Returns the driver error if a failed COMMIT has certainly changed nothing, and `outcome_unknown` otherwise.
 *
 * After a failed flush the whole transaction may be in the write-ahead log, with its commit mark. No connection reads it,
 * and the next commit overwrites it, but recovery after a crash would apply it.
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

/** An open transaction is rolled back. A transaction that was not written completely has no commit mark. */
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
   * @throws FlagsError `storage_busy` (no lock within `busyTimeout`), `storage_unavailable` (the disk failed, nothing has
   * changed), `outcome_unknown` (the disk failed during the commit), `closed`
   * @example
   * const insert = prepare(database, 'INSERT INTO notes (text) VALUES (?)');
   * await writeQueue.run(() => insert.run('hello'));
   */
  run<T>(work: () => T, options?: JobOptions): Promise<T>;

  /** Rejects new jobs, and resolves when the queued jobs are done. Calling it again has no effect. */
  close(): Promise<void>;
}

export interface JobOptions {
  /** Called each time the connection was busy and another attempt follows. */
  readonly onBusy?: (() => void) | undefined;
  /** The size of what the job writes, for the bound of a group. Default: 0 */
  readonly bytes?: number;
}

interface Job {
  readonly work: () => unknown;
  readonly onBusy: () => void;
  readonly bytes: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly deadline: number;
  /** Gets its own transaction, because the group that contained it failed. */
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

/** Most jobs in one transaction: bounds how long it blocks the event loop and other processes. */
const LARGEST_GROUP = 256;

export function createWriteQueue(connection: Connection, checks = NO_CHECKS): WriteQueue {
  const jobs: Job[] = [];
  let draining: Promise<void> | undefined;
  let closed = false;

  async function drain(): Promise<void> {
    while (jobs.length > 0) {
      await setImmediate();
      const group = nextGroup(jobs);
      const { again, busy } = runGroup({ connection, checks }, group);
      jobs.unshift(...again);
      if (busy) await pause();
    }
    draining = undefined;
  }

  return {
    run<T>(work: () => T, { onBusy = () => undefined, bytes = 0 }: JobOptions = {}): Promise<T> {
      if (closed) return Promise.reject(new FlagsError('closed', 'The storage has been closed.'));
      return new Promise<T>((resolve, reject) => {
        const deadline = performance.now() + connection.busyTimeout;
        jobs.push({ work, onBusy, bytes, resolve: resolve as Job['resolve'], reject, deadline, alone: false });
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
    const outcome = unlessBusy(connection, () => transact({ connection, checks }, group));
    if (outcome === 'busy') return { again: withoutOverdue(connection, group), busy: true };
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
  transactionsOf(database).beginImmediate.run();
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
    transactionsOf(database).commit.run();
  } catch (error) {
    throw explainFailedCommit(database, error);
  }
  try {
    committed();
  } catch (error) {
    throw outcomeUnknown('A file of the SQLite database was removed or replaced during a commit', error);
  }
}

/** Such a group is not tried again: a second failure, before its commit, would wrongly report that nothing has changed. */
function isOutcomeUnknown(error: unknown): boolean {
  return isFlagsError(error) && error.code === 'outcome_unknown';
}

/** Rejects the jobs whose deadline has passed, and returns the others. */
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
