import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { FlagsError, isFlagsError } from '../../base/errors.js';
import { type Connection, readWhenFree, type SqliteDatabase } from './database.js';
import { findDriver, isWithoutBinary, loadDriverFrom, type SqliteDriver } from './driver.js';
import type { FileSource } from './options.js';

const ADVICE: readonly { readonly codes: RegExp; readonly advice: string }[] = [
  {
    codes: /^SQLITE_CANTOPEN/,
    advice: 'cannot be opened: make sure that it is a file in a directory that this process may write to.',
  },
  {
    codes: /^SQLITE_(NOTADB|CORRUPT)/,
    advice: 'is not a SQLite database, or is damaged: give the path of another file, or restore this one.',
  },
  {
    codes: /^SQLITE_(READONLY|PERM)/,
    advice:
      'cannot be written to: let this process write to the file and its directory, and do not open it as readonly.',
  },
  {
    codes: /^ERR_DLOPEN_FAILED$/,
    advice:
      'cannot be opened: better-sqlite3 was built for another version of Node. Rebuild it: npm rebuild better-sqlite3',
  },
];

/** Turns an error that the host can fix into `storage_unsupported` with advice. Returns other errors unchanged. */
export function explainOpening(error: unknown, name: string): unknown {
  const cause = isFlagsError(error) ? error.cause : error;
  const { code } = (cause ?? {}) as { code?: unknown };
  const reason = isWithoutBinary(cause) ? 'ERR_DLOPEN_FAILED' : code;
  const known = typeof reason === 'string' && ADVICE.find(({ codes }) => codes.test(reason));
  if (!known) return error;
  return new FlagsError('storage_unsupported', `${name} ${known.advice}`, undefined, { cause });
}

/**
 * The maximum time in milliseconds that SQLite blocks the event loop to wait for a lock. Most locks are released in
 * this time. Afterwards, the storage retries without blocking.
 */
const BLOCKING_WAIT = 10;

/**
 * Size in bytes to which SQLite truncates the write-ahead log when it restarts it. Only large commits and long reads
 * exceed this size.
 */
const LOG_LIMIT = 16 * 1024 * 1024;

/** Only the owner may read and write, because the database holds token hashes and the event log. */
const OWNER_ONLY = 0o600;

/**
 * Creates an empty file that only its owner can read. An existing file keeps its mode.
 *
 * SQLite opens an empty file as a new database, and gives its mode to the journal, `-wal` and `-shm`. The function
 * never opens an existing file: closing it would release the locks that other connections of this process hold. It
 * never throws: SQLite reports the same error when it opens the path.
 */
export function createPrivateFile(path: string): void {
  try {
    // Follows symbolic links, also those whose target does not exist yet.
    if (!existsSync(path)) closeSync(openSync(path, 'a', OWNER_ONLY));
  } catch {
    // The path is not usable.
  }
}

interface OpeningOptions extends FileSource {
  readonly busyTimeout: number;
  /** Called before anything is written. */
  readonly check?: ((database: SqliteDatabase) => void) | undefined;
}

/** A connection that the library has opened. */
interface OwnConnection extends Connection {
  readonly driver: SqliteDriver;
}

/**
 * Opens a database file, or `:memory:`, with the installed better-sqlite3, or else with the SQLite of Node. A new file
 * gets mode 0600. Acknowledged commits of this connection survive a power cut.
 */
export async function openDatabase({ path, driverFrom, busyTimeout, check }: OpeningOptions): Promise<OwnConnection> {
  const { database, driver } = await open({ path, driverFrom });
  const connection = { database, driver, busyTimeout };
  try {
    if (check) await readWhenFree(connection, () => check(database));
    // Setting the journal mode needs a lock. Another process that opens the same new file may hold it.
    await readWhenFree(connection, () => database.pragma('journal_mode = WAL'));
    database.pragma('synchronous = FULL');
    database.pragma(`journal_size_limit = ${LOG_LIMIT}`);
    return connection;
  } catch (error) {
    database.close();
    throw explainOpening(error, path);
  }
}

async function open({ path: givenPath, driverFrom }: FileSource): Promise<Omit<OwnConnection, 'busyTimeout'>> {
  // better-sqlite3 trims the path too.
  const path = givenPath.trim();
  try {
    const driver = driverFrom === undefined ? await findDriver() : loadDriverFrom(driverFrom);
    if (path === ':memory:') return { driver, database: driver.open(path, BLOCKING_WAIT) };
    if (!existsSync(dirname(path))) {
      throw new FlagsError(
        'storage_unsupported',
        `${path} cannot be opened: create the directory ${dirname(path)} first.`,
      );
    }
    createPrivateFile(path);
    // Node would parse a relative path that begins with `file:` as a URI.
    return { driver, database: driver.open(resolve(path), BLOCKING_WAIT) };
  } catch (error) {
    throw explainOpening(error, path);
  }
}
