import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { FlagsError, isFlagsError } from '../../errors.js';
import { type Connection, readWhenFree, type SqliteDatabase } from './database.js';
import { createPrivateFile } from './database-file.js';
import { loadDriver } from './load-driver.js';
import { limitLog } from './write-ahead-log.js';

const ADVICE: readonly { readonly codes: RegExp; readonly advice: string }[] = [
  {
    codes: /^SQLITE_CANTOPEN/,
    advice: 'cannot be opened: make sure that it is a file in a directory that this process may write to.',
  },
  {
    codes: /^SQLITE_(NOTADB|CORRUPT)/,
    advice: 'is not a SQLite database, or a damaged one: give the path of another file, or restore this one.',
  },
  {
    codes: /^SQLITE_(READONLY|PERM)/,
    advice:
      'cannot be written to: let this process write to the file and its directory, and do not open it as readonly.',
  },
  {
    codes: /^ERR_DLOPEN_FAILED$/,
    advice: 'cannot be opened: better-sqlite3 was built for another Node. Rebuild it: npm rebuild better-sqlite3',
  },
];

/** Turns an error that the host can fix into `storage_unsupported` with advice. Returns other errors unchanged. */
export function explainOpening(error: unknown, name: string): unknown {
  const cause = isFlagsError(error) ? error.cause : error;
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const reason = String(message).startsWith('Could not locate the bindings file') ? 'ERR_DLOPEN_FAILED' : code;
  const known = typeof reason === 'string' && ADVICE.find(({ codes }) => codes.test(reason));
  if (!known) return error;
  return new FlagsError('storage_unsupported', `${name} ${known.advice}`, undefined, { cause });
}

/**
 * How long SQLite may block the event loop to wait for a lock, in milliseconds, before the storage retries later. Most locks
 * are released in this time. A longer wait commits no more and blocks longer; without a wait, writers sleep more than they
 * write.
 */
const BLOCKING_WAIT = 10;

interface OpeningOptions {
  readonly path: string;
  readonly busyTimeout: number;
  /** Called before anything is written. */
  readonly check?: ((database: SqliteDatabase) => void) | undefined;
}

/**
 * Opens a database file, or `:memory:`, with the installed better-sqlite3, or else with the SQLite of Node. A new file gets
 * mode 0600. Acknowledged commits of this connection survive a power cut.
 */
export async function openDatabase({ path, busyTimeout, check }: OpeningOptions): Promise<Connection> {
  const database = await open(path);
  const connection = { database, busyTimeout };
  try {
    if (check) await readWhenFree(connection, () => check(database));
    // The journal mode needs a lock, which another process may hold that opens the same new file.
    await readWhenFree(connection, () => database.pragma('journal_mode = WAL'));
    database.pragma('synchronous = FULL');
    limitLog(database);
    return connection;
  } catch (error) {
    database.close();
    throw explainOpening(error, path);
  }
}

async function open(givenPath: string): Promise<SqliteDatabase> {
  const openFile = await loadDriver();
  // better-sqlite3 trims the path too.
  const path = givenPath.trim();
  if (path === ':memory:') return openFile(path, BLOCKING_WAIT);
  if (!existsSync(dirname(path))) {
    throw new FlagsError(
      'storage_unsupported',
      `${path} cannot be opened: create the directory ${dirname(path)} first.`,
    );
  }
  createPrivateFile(path);
  try {
    // Node would take a relative path that begins with `file:` for a URI.
    return openFile(resolve(path), BLOCKING_WAIT);
  } catch (error) {
    throw explainOpening(error, path);
  }
}
