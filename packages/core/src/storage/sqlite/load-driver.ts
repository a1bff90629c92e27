import { FlagsError } from '../../errors.js';
import type { SqliteDatabase } from './database.js';
import versions from './driver-version.cjs';
import { findNodeSqlite, openNodeDatabase } from './node-database.js';

/** Opens a file, or `:memory:`. A call waits for a lock for at most `timeout` milliseconds. */
export type OpenFile = (path: string, timeout: number) => SqliteDatabase;

/**
 * Returns why this version of better-sqlite3 must not be used on this Node, or undefined. Both crashes end the process, and
 * cannot be caught.
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
      'Install better-sqlite3@13, or remove better-sqlite3: the SQLite of Node itself is then used.'
    );
  }
  return undefined;
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [itsMajor = 0, itsMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return itsMajor > major || (itsMajor === major && itsMinor >= minor);
}

/**
 * Loads better-sqlite3 if it is installed, or else `node:sqlite`, which Bun has too.
 *
 * @throws FlagsError `storage_unsupported` if there is neither, or if better-sqlite3 would crash
 */
export async function loadDriver(): Promise<OpenFile> {
  const own = findNodeSqlite();
  // Bun cannot load better-sqlite3.
  if (own && 'bun' in process.versions) return (path, timeout) => openNodeDatabase(own, path, { timeout });
  const refusal = driverRefusal({ driver: versions.findDriverVersion() ?? '', node: process.versions.node });
  if (refusal) throw new FlagsError('storage_unsupported', refusal);
  try {
    // Bundlers understand `import()` in every format. The package is the host's, so a bundle must leave it out.
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

type Driver = new (path: string, options: { readonly timeout: number }) => SqliteDatabase;

function isMissing(error: unknown): boolean {
  const { code } = Object(error) as { readonly code?: unknown };
  return code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND';
}
