import { statSync } from 'node:fs';
import type { SqliteDatabase } from './database.js';
import { pathOf } from './file-in-place.js';

/**
 * Bytes that the write-ahead log keeps when SQLite starts it anew. SQLite moves its pages into the database after every
 * 4 MiB, so only large commits and long reads take it beyond this size.
 */
const LOG_LIMIT = 16 * 1024 * 1024;
/** How long, in milliseconds, this connection writes nothing before the log is emptied. */
const IDLE = 5_000;

/** Limits the log of a connection that the storage has opened. */
export function limitLog(database: SqliteDatabase): void {
  database.pragma(`journal_size_limit = ${LOG_LIMIT}`);
}

/** Bytes of the write-ahead log on disk; undefined when there is none. */
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
  /** Call it with every write. */
  noteWrite(): void;
  /** Ends the timer. */
  stop(): void;
}

/**
 * Empties the write-ahead log when the connection has not written for a while. A log that another connection still reads is
 * left alone and tried again later. The timer keeps no process alive.
 *
 * @param idle milliseconds
 */
export function createLogCleaner(database: SqliteDatabase, idle = IDLE): LogCleaner {
  let timer: NodeJS.Timeout | undefined;
  let lastWrite = 0;

  function wait(time: number): void {
    timer = setTimeout(look, time).unref();
  }

  function look(): void {
    timer = undefined;
    const rest = lastWrite + idle - performance.now();
    if (rest > 0) wait(rest);
    else if (!emptyLog(database)) wait(idle);
  }

  return {
    noteWrite() {
      lastWrite = performance.now();
      if (timer === undefined) wait(idle);
    },
    stop: () => clearTimeout(timer),
  };
}

/**
 * False when it has to be tried again. Moves the pages without a lock first, beside readers and writers; the lock that keeps
 * writers out is then taken without waiting, and only for as long as truncating a file takes.
 */
function emptyLog(database: SqliteDatabase): boolean {
  try {
    const { log, checkpointed } = checkpoint(database, 'PASSIVE');
    // -1: the database has no write-ahead log.
    if (log <= 0) return true;
    if (checkpointed < log) return false;
    return truncateLog(database);
  } catch {
    // A failing disk: everything is still in the log, and the next commit reports the fault.
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
