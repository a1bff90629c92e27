import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { FlagsError } from '../../errors.js';
import { readWhenFree } from './busy.js';
import type { Connection, SqliteDatabase } from './database.js';
import { driverRefusal, driverVersion } from './driver-refusal.js';
import driverLoader from './load-driver.cjs';
import { explainOpening } from './opening-faults.js';
import { createPrivateFile } from './private-file.js';
import { limitLog } from './write-ahead-log.js';

/**
 * How long, in milliseconds, SQLite may stop the event loop to wait for a lock before it is asked again later. Most locks are
 * gone within 10; 50 commits no more, and stops the loops of four busy writers three times as long. Without any wait, writers
 * that find the lock taken by turns sleep more than they write.
 */
const BLOCKING_WAIT = 10;

type Driver = new (path: string, options: { timeout: number }) => SqliteDatabase;

/**
 * Opens a database file with the host's own better-sqlite3; `:memory:` opens one in memory. A new file gets mode 0600. What is
 * acknowledged on this connection survives a power cut.
 */
export async function openDatabase({ path, busyTimeout }: { path: string; busyTimeout: number }): Promise<Connection> {
  const database = open(path);
  const connection = { database, busyTimeout };
  try {
    // Changing the journal meets a lock when several processes open a new file at the same moment.
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
  // The driver trims it too.
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

/** Fails with `storage_unsupported` when the driver is missing, or would crash. */
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
