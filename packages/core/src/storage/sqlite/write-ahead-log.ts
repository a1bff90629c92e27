import { statSync } from 'node:fs';
import type { SqliteDatabase } from './database.js';
import { pathOf } from './database-file.js';

/**
 * Pages in the log after which SQLite checkpoints: almost 16 MiB of the usual 4 KiB. Commits write the same pages of the
 * indexes again and again, and a checkpoint copies each page once: four times SQLite's default saves a twentieth of a change.
 */
const CHECKPOINT_PAGES = 4_000;
/**
 * Size in bytes to which SQLite truncates the log when it restarts it. Only large commits and long reads exceed this size.
 */
const LOG_LIMIT = 16 * 1024 * 1024;
/** Time without a write after which the log is emptied, in milliseconds. */
const IDLE = 5_000;

/** Limits the log of a connection that the storage opened. */
export function limitLog(database: SqliteDatabase): void {
  database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  database.pragma(`journal_size_limit = ${LOG_LIMIT}`);
}

/** Returns a function that reads the size of the write-ahead log in bytes; undefined if there is none. */
export function logSizeReader(database: SqliteDatabase): () => number | undefined {
  const path = pathOf(database);
  if (path === '') return () => undefined;
  return () => {
    try {
      return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size;
    } catch {
      return undefined;
    }
  };
}

export interface LogCleaner {
  /** Call this with every write. */
  noteWrite(): void;
  /** Stops the timer. */
  stop(): void;
}

/**
 * Empties the write-ahead log when the connection has not written for a while. If another connection still reads the log,
 * the cleaner retries later. The timer does not keep the process alive.
 *
 * @param assertFile throws if this connection no longer has the files of the database open. Other processes may then use
 * other locks, and the cleaner would remove their commits
 * @param idle milliseconds
 */
export function createLogCleaner(database: SqliteDatabase, assertFile: () => void, idle = IDLE): LogCleaner {
  let timer: NodeJS.Timeout | undefined;
  let lastWrite = 0;

  function schedule(time: number): void {
    timer = setTimeout(tick, time).unref();
  }

  function tick(): void {
    timer = undefined;
    const rest = lastWrite + idle - performance.now();
    if (rest > 0) schedule(rest);
    else if (!emptyLog(database, assertFile)) schedule(idle);
  }

  return {
    noteWrite() {
      lastWrite = performance.now();
      if (timer === undefined) schedule(idle);
    },
    stop: () => clearTimeout(timer),
  };
}

/**
 * Returns false if the caller should retry later.
 *
 * Copies the pages without a lock first, beside readers and writers. It then takes the write lock without waiting, and only
 * while it truncates the file.
 */
function emptyLog(database: SqliteDatabase, assertFile: () => void): boolean {
  try {
    assertFile();
    const { log, checkpointed } = checkpoint(database, 'PASSIVE');
    // -1: the database has no write-ahead log.
    if (log <= 0) return true;
    if (checkpointed < log) return false;
    return truncateLog(database);
  } catch {
    // The disk fails, or a file is gone. Everything is still in the log, and the next commit reports the fault.
    return false;
  }
}

function truncateLog(database: SqliteDatabase): boolean {
  const timeout = database.pragma('busy_timeout', { simple: true });
  database.pragma('busy_timeout = 0');
  try {
    return checkpoint(database, 'TRUNCATE').busy === 0;
  } finally {
    database.pragma(`busy_timeout = ${timeout}`);
  }
}

/** `log` and `checkpointed` count pages. */
interface Checkpoint {
  readonly busy: number;
  readonly log: number;
  readonly checkpointed: number;
}

function checkpoint(database: SqliteDatabase, mode: 'PASSIVE' | 'TRUNCATE'): Checkpoint {
  const [outcome] = database.pragma(`wal_checkpoint(${mode})`) as readonly Checkpoint[];
  return outcome ?? { busy: 1, log: -1, checkpointed: -1 };
}
