import { closeSync, openSync, readSync, truncateSync } from 'node:fs';
import { type SqliteDatabase, unavailable } from './database.js';

/** Checks that the write-ahead log has not been cut from outside. */
export interface LogCheck {
  /** Runs before a transaction. Throws `storage_unavailable` if frames of the log are missing. */
  readonly ready: () => void;
  /** Runs in a write transaction, in which no connection may shorten the log. Throws like a busy connection in doubt. */
  readonly begun: () => void;
  /** Runs after a commit. Throws if it was written behind missing frames. */
  readonly committed: () => void;
  /** Takes note of frames that other connections have written. */
  readonly observe: () => void;
  /** Takes note that this connection has emptied the log. */
  readonly emptied: () => void;
  readonly close: () => void;
}

const nothing = () => undefined;
const UNCHECKED: LogCheck = {
  ready: nothing,
  begun: nothing,
  committed: nothing,
  observe: nothing,
  emptied: nothing,
  close: nothing,
};

// https://sqlite.org/fileformat2.html#walformat
const LOG_HEADER = 32;
const FRAME_HEADER = 24;

const CUT =
  'The -wal of the SQLite database was truncated while it was open, and changes in it are lost: ' +
  'put it back, or restart every process that has the database open';

interface Checkpoint {
  readonly busy: number;
  /** Frames that the log must have; -1 without a log. */
  readonly log: number;
  /** Frames that are in the database, too. */
  readonly checkpointed: number;
}

/** Runs a checkpoint that does not wait for other connections. */
export function checkpoint(database: SqliteDatabase, mode: 'PASSIVE' | 'TRUNCATE'): Checkpoint | undefined {
  const timeout = database.pragma('busy_timeout', { simple: true });
  try {
    database.pragma('busy_timeout = 0');
    return (database.pragma(`wal_checkpoint(${mode})`) as readonly Checkpoint[])[0];
  } finally {
    database.pragma(`busy_timeout = ${timeout}`);
  }
}

/**
 * Creates the check of a database's log.
 *
 * SQLite keeps the number of frames in the `-shm`, and does not compare it with the file. If the `-wal` is cut, the next
 * commit leaves a hole in it, at which recovery ends: this and all later commits are lost with the last connection.
 *
 * The log becomes shorter by a checkpoint of any connection, and never in a write transaction. So a log that is shorter
 * than before is in doubt: a checkpoint then tells how many frames it must have. A connection cannot know the frames
 * that others have written since it looked; so a commit must also continue the frames that were there when it began.
 *
 * Reads single bytes of the log: `stat` would make the next flush store the times of the file, too. The file stays
 * open, which is safe because the `-wal` has no locks; closing the `-shm` or the database would release those of SQLite.
 *
 * @param path of the database; empty for one in memory
 */
export function createLogCheck(database: SqliteDatabase, path: string): LogCheck {
  if (path === '') return UNCHECKED;
  const frameSize = FRAME_HEADER + Number(database.pragma('page_size', { simple: true }));
  const bytes = Buffer.alloc(FRAME_HEADER);
  let file: number | undefined;
  /** The number of complete frames that the log has had. */
  let frames = 0;
  /** The number of frames before an incomplete one that a crash has left. */
  let torn: number | undefined;
  let isInDoubt = false;

  function open(): boolean {
    try {
      file ??= openSync(`${path}-wal`, 'r');
      return true;
    } catch {
      return false;
    }
  }

  function close(): void {
    if (file !== undefined) closeSync(file);
    file = undefined;
  }

  const hasByte = (position: number) => file !== undefined && readSync(file, bytes, 0, 1, position) === 1;
  const hasFrames = (count: number) => count === 0 || hasByte(LOG_HEADER + count * frameSize - 1);
  const beginsFrameAfter = (count: number) => hasByte(LOG_HEADER + count * frameSize);

  /** Returns the number of whole frames, which is at least `least`. */
  function countFrom(least: number): number {
    let count = least;
    let step = 1;
    for (; hasFrames(count + step); step *= 2) count += step;
    for (; step >= 1; step = Math.floor(step / 2)) if (hasFrames(count + step)) count += step;
    return count;
  }

  function observe(): void {
    if (open() && beginsFrameAfter(frames) && hasFrames(frames)) frames = countFrom(frames);
  }

  /** Whether a frame was written. The hole that a commit leaves behind missing frames reads as zeros. */
  function isWritten(frame: number): boolean {
    if (file === undefined) return true;
    readSync(file, bytes, 0, FRAME_HEADER, LOG_HEADER + (frame - 1) * frameSize);
    return bytes.some((byte) => byte !== 0);
  }

  /** Whether the log has all its frames, or needs none because all are in the database. */
  function isWhole(): boolean {
    const { busy, log, checkpointed } = checkpoint(database, 'PASSIVE') ?? { busy: 0, log: 0, checkpointed: 0 };
    if (busy !== 0) throw busyLog();
    close();
    frames = open() ? countFrom(0) : 0;
    torn = frames;
    if (log <= frames) return true;
    return log === checkpointed && checkpoint(database, 'TRUNCATE')?.busy === 0;
  }

  return {
    ready() {
      if (!isInDoubt) return;
      try {
        // Another connection may have emptied the log between the two looks.
        if (!isWhole() && !isWhole()) throw unavailable(CUT);
      } catch (error) {
        const { code } = error as { readonly code?: unknown };
        throw typeof code === 'string' && code.startsWith('SQLITE_IOERR') ? unavailable(CUT, error) : error;
      }
      isInDoubt = false;
    },
    begun() {
      if (!open()) return;
      if (hasFrames(frames)) {
        observe();
        isInDoubt = torn !== frames && beginsFrameAfter(frames);
      } else isInDoubt = true;
      if (isInDoubt) throw busyLog();
    },
    committed() {
      const before = frames;
      observe();
      if (frames === before || isWritten(before + 1)) return;
      // A checkpoint would copy the hole into the database.
      truncateSync(`${path}-wal`, LOG_HEADER + before * frameSize);
      frames = before + 1;
      throw unavailable(CUT);
    },
    observe,
    emptied() {
      frames = 0;
    },
    close,
  };
}

/** The transaction is repeated, after `ready` has decided. */
function busyLog(): Error {
  return Object.assign(new Error('The write-ahead log was truncated.'), { code: 'SQLITE_BUSY' });
}
