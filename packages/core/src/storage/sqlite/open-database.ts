import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FlagsError, isFlagsError } from '../../errors.js';
import { readWhenFree } from './busy.js';
import type { Connection, SqliteDatabase } from './database.js';
import driverLoader from './load-driver.cjs';
import { createPrivateFile } from './private-file.js';
import { limitLog } from './write-ahead-log.js';

/**
 * Returns why this driver must not be used on this Node, or undefined. better-sqlite3 13 crashes the process when it opens a
 * database on a Node before 22.14.
 */
export function driverRefusal({ driver, node }: { driver: string; node: string }): string | undefined {
  if (isAtLeast(node, [22, 14]) || !isAtLeast(driver, [13, 0])) return undefined;
  return (
    `better-sqlite3 ${driver} crashes on Node ${node} when it opens a database. ` +
    'Install better-sqlite3@12, or run Node 22.14 or newer.'
  );
}

/**
 * Returns the version of the better-sqlite3 package that contains a file; undefined if there is no `package.json`, as in a
 * bundle. Searches the disk, because the `exports` of the package do not include its `package.json`.
 */
export function driverVersion(file: string): string | undefined {
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (!existsSync(manifest)) continue;
    const { name, version }: { name?: unknown; version?: unknown } = JSON.parse(readFileSync(manifest, 'utf8'));
    if (name === 'better-sqlite3' && typeof version === 'string') return version;
  }
  return undefined;
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [itsMajor = 0, itsMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return itsMajor > major || (itsMajor === major && itsMinor >= minor);
}

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

type Driver = new (path: string, options: { timeout: number }) => SqliteDatabase;

/**
 * Opens a database file, or `:memory:`, with the installed better-sqlite3. A new file gets mode 0600. Acknowledged commits of
 * this connection survive a power cut.
 */
export async function openDatabase({ path, busyTimeout }: { path: string; busyTimeout: number }): Promise<Connection> {
  const database = open(path);
  const connection = { database, busyTimeout };
  try {
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

function open(givenPath: string): SqliteDatabase {
  const Database = findDriver();
  // The driver trims the path too.
  const path = givenPath.trim();
  const isFile = path !== ':memory:';
  if (isFile && !existsSync(dirname(path))) {
    throw new FlagsError(
      'storage_unsupported',
      `${path} cannot be opened: create the directory ${dirname(path)} first.`,
    );
  }
  if (isFile) createPrivateFile(path);
  try {
    return new Database(path, { timeout: BLOCKING_WAIT });
  } catch (error) {
    throw explainOpening(error, path);
  }
}

/** Throws `storage_unsupported` if the driver is missing or would crash. */
function findDriver(): Driver {
  try {
    const refusal = driverRefusal({
      driver: driverVersion(driverLoader.locateDriver()) ?? '',
      node: process.versions.node,
    });
    if (refusal) throw new FlagsError('storage_unsupported', refusal);
    return driverLoader.loadDriver() as Driver;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'MODULE_NOT_FOUND') throw error;
    const message =
      'A SQLite storage needs the package better-sqlite3. Install it beside your application: npm install better-sqlite3@12';
    throw new FlagsError('storage_unsupported', message, undefined, { cause: error });
  }
}
