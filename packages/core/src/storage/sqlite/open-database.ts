import { closeSync, existsSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { FlagsError, isFlagsError } from '../../base/errors.js';
import { type Connection, readWhenFree, type SqliteDatabase } from './database.js';
import versions from './driver-version.cjs';
import { findNodeSqlite, openNodeDatabase } from './node-database.js';
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
  const { code, message } = (cause ?? {}) as { code?: unknown; message?: unknown };
  const reason = String(message).startsWith('Could not locate the bindings file') ? 'ERR_DLOPEN_FAILED' : code;
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

/**
 * Opens a database file, or `:memory:`, with the installed better-sqlite3, or else with the SQLite of Node. A new file
 * gets mode 0600. Acknowledged commits of this connection survive a power cut.
 */
export async function openDatabase({ path, driverFrom, busyTimeout, check }: OpeningOptions): Promise<Connection> {
  const database = await open({ path, driverFrom });
  const connection = { database, busyTimeout };
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

async function open({ path: givenPath, driverFrom }: FileSource): Promise<SqliteDatabase> {
  const openFile = driverFrom === undefined ? await loadDriver() : loadDriverFrom(driverFrom);
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
    // Node would parse a relative path that begins with `file:` as a URI.
    return openFile(resolve(path), BLOCKING_WAIT);
  } catch (error) {
    throw explainOpening(error, path);
  }
}

/** Opens a file, or `:memory:`. A call waits for a lock for at most `timeout` milliseconds. */
type OpenFile = (path: string, timeout: number) => SqliteDatabase;

/**
 * Returns an error message if this version of better-sqlite3 crashes on this version of Node, or undefined. The crashes
 * end the process.
 */
export function driverRefusal({ driver, node }: { driver: string; node: string }): string | undefined {
  const isNewDriver = isAtLeast(driver, [13, 0]);
  if (isNewDriver && !isAtLeast(node, [22, 14])) {
    return (
      `better-sqlite3 ${driver} crashes on Node ${node} when it opens a database. ` +
      'Install better-sqlite3@12, or run Node 22.14 or newer.'
    );
  }
  if (driver !== '' && !isNewDriver && isAtLeast(node, [24, 19])) {
    return (
      `better-sqlite3 ${driver} crashes on Node ${node} when its statements are collected. ` +
      'Install better-sqlite3@13.'
    );
  }
  return undefined;
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [itsMajor = 0, itsMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return itsMajor > major || (itsMajor === major && itsMinor >= minor);
}

interface Drivers {
  /** The version of the installed better-sqlite3; empty: unknown, or not installed. */
  readonly driver: string;
  readonly node: string;
  /** Whether this Node has `node:sqlite`. */
  readonly hasOwn: boolean;
}

/**
 * Chooses the SQLite of Node instead of a better-sqlite3 that would crash.
 *
 * @throws FlagsError `storage_unsupported` if better-sqlite3 would crash and Node has no SQLite
 */
export function chooseDriver({ driver, node, hasOwn }: Drivers): 'installed' | 'own' {
  const refusal = driverRefusal({ driver, node });
  if (refusal === undefined) return 'installed';
  if (hasOwn) return 'own';
  throw new FlagsError('storage_unsupported', refusal);
}

/**
 * Loads better-sqlite3 if it is installed and works on this Node, or else `node:sqlite`, which Bun has too.
 *
 * @throws FlagsError `storage_unsupported` if neither is usable
 */
async function loadDriver(): Promise<OpenFile> {
  const own = findNodeSqlite();
  const driver = versions.findDriverVersion() ?? '';
  const choice = chooseDriver({ driver, node: process.versions.node, hasOwn: own !== undefined });
  // Bun cannot load better-sqlite3.
  if (own && (choice === 'own' || 'bun' in process.versions)) {
    return (path, timeout) => openNodeDatabase(own, path, { timeout });
  }
  try {
    // Bundlers leave `import()` of an external package alone in every output format.
    const { default: Database } = (await import('better-sqlite3')) as { readonly default: Driver };
    return (path, timeout) => new Database(path, { timeout });
  } catch (error) {
    if (!isMissing(error)) throw error;
    if (own) return (path, timeout) => openNodeDatabase(own, path, { timeout });
    const message =
      'A SQLite storage needs the package better-sqlite3, or Node 22.16 and newer. Install the package beside your ' +
      'application: npm install better-sqlite3@12';
    throw new FlagsError('storage_unsupported', message, undefined, { cause: error });
  }
}

/**
 * Loads the better-sqlite3 that a folder has, and no other driver.
 *
 * @throws FlagsError `storage_unsupported` if it has none, or one that would crash
 */
function loadDriverFrom(folder: string): OpenFile {
  const load = createRequire(resolve(folder, 'package.json'));
  const refusal = driverRefusal({ driver: versions.findDriverVersion(load) ?? '', node: process.versions.node });
  if (refusal !== undefined) throw new FlagsError('storage_unsupported', refusal);
  try {
    const Database = load('better-sqlite3') as Driver;
    return (path, timeout) => new Database(path, { timeout });
  } catch (error) {
    if (!isMissing(error)) throw error;
    const message = `${folder} has no better-sqlite3. Install it there: npm install better-sqlite3@12`;
    throw new FlagsError('storage_unsupported', message, undefined, { cause: error });
  }
}

type Driver = new (path: string, options: { readonly timeout: number }) => SqliteDatabase;

function isMissing(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND';
}
