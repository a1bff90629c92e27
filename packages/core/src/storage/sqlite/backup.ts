import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, open, rename, rm, unlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { FlagsError, isFlagsError } from '../../base/errors.js';
import { busyError, type Connection, isBusy, pathOf, readWhenFree, type SqliteDatabase } from './database.js';
import versions from './driver-version.cjs';
import { isAdapted, withDriverCode } from './node-database.js';
import { createPrivateFile, openDatabase } from './open-database.js';
import { DEFAULT_BUSY_TIMEOUT } from './options.js';

/** The file has its final name, but a power cut may undo the renaming. */
class NameNotDurable extends Error {
  override readonly name = 'NameNotDurable';
}

/**
 * Renames a complete file to its final name, atomically and durably.
 *
 * Throws `EEXIST` if the name is taken; a file system without hard links replaces the file instead. Throws
 * `NameNotDurable` if the file has its name, but its directory cannot be flushed.
 */
export async function publishFile(finished: string, path: string): Promise<void> {
  try {
    await link(finished, path);
    await unlink(finished);
  } catch (error) {
    if (!isWithoutLinks(error)) throw error;
    await rename(finished, path);
  }
  await flushDirectory(dirname(path)).catch((cause: Error) => {
    throw new NameNotDurable(cause.message, { cause });
  });
}

/** Some file systems, such as exFAT, have no hard links. */
function isWithoutLinks(error: unknown): boolean {
  return ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error));
}

/** Windows cannot open directories, and needs no flush. */
async function flushDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } catch (error) {
    if (!isWithoutDirectoryFlush(error)) throw error;
  } finally {
    await directory.close();
  }
}

/** Some network file systems cannot flush directories. SQLite ignores that too. */
function isWithoutDirectoryFlush(error: unknown): boolean {
  return ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code);
}

/**
 * Copies the database of a file into a new file, as `SqliteStorage.backup` does, while others use it. The tables may be
 * of any version, and stay as they are: make such a copy before you migrate.
 *
 * @param source the file of the database
 * @param path the file to create, in an existing directory
 * @param driverFrom as the option of `sqliteStorage`
 * @throws FlagsError `invalid_input` (the source does not exist, or the path is unusable or exists),
 * `storage_unsupported` (the source is not a database), `storage_unavailable` (the file cannot be written),
 * `storage_busy`
 * @example
 * await backUpFile('./flags.db', './flags-before-upgrade.backup');
 */
export async function backUpFile(
  source: string,
  path: string,
  { driverFrom }: { readonly driverFrom?: string | undefined } = {},
): Promise<void> {
  if (!existsSync(source)) throw new FlagsError('invalid_input', `There is no file ${source}.`);
  const connection = await openDatabase({ path: source, driverFrom, busyTimeout: DEFAULT_BUSY_TIMEOUT });
  try {
    await backUp(connection, path);
  } finally {
    connection.database.close();
  }
}

/** Copies the whole database into a new file. See `SqliteStorage.backup`. */
export async function backUp(connection: Connection, path: string): Promise<void> {
  const target = assertTarget(path);
  const partial = `${target}.${randomUUID()}.partial`;
  try {
    createPrivateFile(partial);
    await copy(connection, partial);
    await flush(partial);
    await publishFile(partial, target);
  } catch (error) {
    await Promise.allSettled([partial, `${partial}-journal`].map((file) => rm(file, { force: true })));
    throw explain(connection, target, error);
  }
}

function assertTarget(path: string): string {
  if (typeof path !== 'string' || path.trim() === '' || path === ':memory:' || path.includes('\0')) {
    throw new FlagsError('invalid_input', 'The path of a backup must name a file to create.');
  }
  const target = resolve(path);
  if (existsSync(target)) throw occupied(target);
  if (!existsSync(dirname(target))) {
    throw new FlagsError(
      'invalid_input',
      `${target} cannot be created: create the directory ${dirname(target)} first.`,
    );
  }
  return target;
}

/**
 * Copies the database into an empty file: on a connection of its own in a worker, so that neither the event loop nor a writer
 * waits. The connection itself copies a database in memory, which no other connection sees, and one whose driver a worker
 * cannot load.
 */
async function copy(connection: Connection, target: string): Promise<void> {
  const { database, busyTimeout: timeout } = connection;
  const source = await readWhenFree(connection, () => pathOf(database));
  const driver = findDriver(database);
  if (source !== '' && driver !== undefined) return copyInWorker({ driver, source, target, timeout });
  await readWhenFree(connection, () => database.prepare(VACUUM).run(target));
}

/** The file of better-sqlite3; '' is `node:sqlite`. */
type DriverFile = string;

/**
 * Returns the driver of a connection. The worker must load the same one: the locks of SQLite belong to the process, and a
 * second library in it would release those of the first.
 */
function findDriver(database: SqliteDatabase): DriverFile | undefined {
  if (isAdapted(database)) return '';
  // In an ESM bundle, the library has no `require` of its own.
  const fromMain = createRequire(resolve(process.argv[1] ?? 'main'));
  for (const found of [versions.findDriver(), versions.findDriver(fromMain)]) {
    const { file, driver } = found ?? {};
    if (file && typeof driver === 'function' && database instanceof driver) return file;
  }
  return undefined;
}

interface WorkerCopy {
  readonly driver: DriverFile;
  readonly source: string;
  readonly target: string;
  readonly timeout: number;
}

/** A consistent copy of the last commit. In WAL mode, others write meanwhile. */
const VACUUM = 'VACUUM INTO ?';

/** A text, because bundlers do not find the file of a worker. It posts the error, or null. */
const WORKER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { driver, source, target, timeout } = workerData;
  try {
    const database = driver
      ? new (require(driver))(source, { readonly: true, fileMustExist: true, timeout })
      : new (require('node:sqlite').DatabaseSync)(source, { readOnly: true, timeout });
    try {
      database.prepare('${VACUUM}').run(target);
    } finally {
      database.close();
    }
    parentPort.postMessage(null);
  } catch ({ code, errcode, message }) {
    parentPort.postMessage({ code, errcode, message });
  }`;

function copyInWorker(workerData: WorkerCopy): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(WORKER, { eval: true, execArgv: [], workerData });
    worker.once('message', (failure: { readonly message: string } | null) => {
      if (failure === null) resolve();
      else reject(withDriverCode(Object.assign(new Error(failure.message), failure)));
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`its worker ended with ${code}`)));
  });
}

/** SQLite may leave it to the operating system when the copy reaches the disk. */
async function flush(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function explain(connection: Connection, target: string, error: unknown): unknown {
  if (isFlagsError(error)) return error;
  if ((error as { code?: unknown }).code === 'EEXIST') return occupied(target);
  if (error instanceof NameNotDurable) return nameNotDurable(target, error);
  if (isBusy(error)) return busyError(connection);
  const reason = error instanceof Error ? error.message : String(error);
  return new FlagsError(
    'storage_unavailable',
    `The backup ${target} could not be written (${reason}); no file is left.`,
    undefined,
    { cause: error },
  );
}

/** Creates the error for a complete and flushed copy whose name is not durable. */
function nameNotDurable(target: string, { message, cause }: NameNotDurable): FlagsError {
  const text =
    `The backup ${target} is there, complete and flushed, but its directory could not be flushed (${message}): ` +
    'after a power cut it may have lost its name. Remove it and make another, or flush the directory.';
  return new FlagsError('storage_unavailable', text, undefined, { cause });
}

function occupied(target: string): FlagsError {
  return new FlagsError(
    'invalid_input',
    `${target} exists, and a backup does not overwrite files. Choose another path.`,
  );
}
