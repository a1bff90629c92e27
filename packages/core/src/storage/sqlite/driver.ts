import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { FlagsError } from '../../base/errors.js';
import type { FlagsStorage } from '../port.js';
import type { SqliteDatabase } from './database.js';
import versions from './driver-version.cjs';
import { findNodeSqlite, type NodeSqlite, openNodeDatabase } from './node-database.js';

/** A driver, and why it was chosen. */
export interface SqliteDriver extends Readonly<NonNullable<FlagsStorage['driver']>> {
  /** Opens a file, or `:memory:`. A call waits for a lock for at most `timeout` milliseconds. */
  readonly open: (path: string, timeout: number) => SqliteDatabase;
}

type BetterSqlite3 = new (path: string, options: { readonly timeout: number }) => SqliteDatabase;

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

interface Candidates {
  /** The version of the installed better-sqlite3; empty: unknown, or not installed. */
  readonly version: string;
  readonly node: string;
  /** Loads the installed better-sqlite3, and rejects if there is none. */
  readonly load: () => Promise<BetterSqlite3>;
  /** Returns the SQLite of Node. Node 22 warns when it is loaded. */
  readonly findOwn: () => NodeSqlite | undefined;
}

/**
 * Chooses better-sqlite3 if it is installed and works on this Node, or else the SQLite of Node.
 *
 * @throws FlagsError `storage_unsupported` if neither is usable
 */
export async function chooseDriver({ version, node, load, findOwn }: Candidates): Promise<SqliteDriver> {
  const installed = `better-sqlite3 ${version}`.trim();
  const refusal = driverRefusal({ driver: version, node });
  if (refusal !== undefined) {
    const own = findOwn();
    if (own) return nodeDriver(own, refusal);
    throw new FlagsError('storage_unsupported', refusal);
  }
  try {
    return workingDriver(await load(), `${installed} is installed`);
  } catch (error) {
    const isAbsent = isMissing(error);
    if (!isAbsent && !isWithoutBinary(error)) throw error;
    const own = findOwn();
    if (own) {
      const reason = isAbsent ? 'better-sqlite3 is not installed' : `${installed} has no binary for Node ${node}`;
      return nodeDriver(own, reason);
    }
    if (!isAbsent) throw error;
    const message =
      'A SQLite storage needs the package better-sqlite3, or Node 22.16 and newer. Install the package beside your ' +
      'application: npm install better-sqlite3@12';
    throw new FlagsError('storage_unsupported', message, undefined, { cause: error });
  }
}

/** Finds the driver of this process, as {@link chooseDriver} does. */
export async function findDriver(): Promise<SqliteDriver> {
  if ('bun' in process.versions) {
    const own = findNodeSqlite();
    if (own) return nodeDriver(own, 'Bun cannot load better-sqlite3');
  }
  return chooseDriver({
    version: versions.findDriverVersion() ?? '',
    node: process.versions.node,
    // Bundlers leave `import()` of an external package alone in every output format.
    load: async () => ((await import('better-sqlite3')) as { readonly default: BetterSqlite3 }).default,
    findOwn: findNodeSqlite,
  });
}

/**
 * Loads the better-sqlite3 that a folder has, and no other driver.
 *
 * @throws FlagsError `storage_unsupported` if it has none, or one that would crash
 */
export function loadDriverFrom(folder: string): SqliteDriver {
  const load = createRequire(resolve(folder, 'package.json'));
  const version = versions.findDriverVersion(load) ?? '';
  const refusal = driverRefusal({ driver: version, node: process.versions.node });
  if (refusal !== undefined) throw new FlagsError('storage_unsupported', refusal);
  try {
    return workingDriver(load('better-sqlite3') as BetterSqlite3, `better-sqlite3 ${version} is in ${folder}`);
  } catch (error) {
    if (!isMissing(error)) throw error;
    const message = `${folder} has no better-sqlite3. Install it there: npm install better-sqlite3@12`;
    throw new FlagsError('storage_unsupported', message, undefined, { cause: error });
  }
}

/** @throws what better-sqlite3 throws if its binary does not load: it loads it with the first database */
function workingDriver(Database: BetterSqlite3, reason: string): SqliteDriver {
  new Database(':memory:', { timeout: 0 }).close();
  return { name: 'better-sqlite3', reason, open: (path, timeout) => new Database(path, { timeout }) };
}

function nodeDriver(sqlite: NodeSqlite, reason: string): SqliteDriver {
  return { name: 'node:sqlite', reason, open: (path, timeout) => openNodeDatabase(sqlite, path, { timeout }) };
}

function isMissing(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND';
}

/** Whether better-sqlite3 has no binary, or one that this Node cannot load. */
export function isWithoutBinary(error: unknown): boolean {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  return code === 'ERR_DLOPEN_FAILED' || String(message).startsWith('Could not locate the bindings file');
}
