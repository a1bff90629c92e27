import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { link, open, rename, rm, unlink } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { FlagsError, isFlagsError } from '../../errors.js';
import { assertOpen, type BackupProgress, busyError, type Connection, pause, readWhenFree } from './database.js';
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

/** Pages to copy before other work runs. A page usually has 4 KiB. */
const PAGES_PER_STEP = 100;
const MAX_PAGES = 2 ** 31 - 1;

/**
 * Copies the database of a file into a new file, as `SqliteStorage.backup` does, while others use it. The tables may be
 * of any version, and stay as they are: make such a copy before you migrate.
 *
 * @param source the file of the database
 * @param path the file to create, in an existing directory
 * @throws FlagsError `invalid_input` (the source does not exist, or the path is unusable or exists),
 * `storage_unsupported` (the source is not a database), `storage_unavailable` (the file cannot be written),
 * `storage_busy`
 * @example
 * await backUpFile('./flags.db', './flags-before-upgrade.backup');
 */
export async function backUpFile(source: string, path: string): Promise<void> {
  if (!existsSync(source)) throw new FlagsError('invalid_input', `There is no file ${source}.`);
  const connection = await openDatabase({ path: source, busyTimeout: DEFAULT_BUSY_TIMEOUT });
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
    await copyWhenFree(connection, partial);
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
 * Starts the copy when the host has no open transaction, and retries while the database is locked. If it is locked at
 * the first step, the driver leaves the file empty.
 */
async function copyWhenFree(connection: Connection, partial: string): Promise<void> {
  const { database, busyTimeout } = connection;
  const deadline = performance.now() + busyTimeout;
  for (;;) {
    await readWhenFree(connection, () => undefined);
    if (!database.backup) throw unsupported();
    await database.backup(partial, { progress: createPace(connection) });
    if ((statSync(partial, { throwIfNoEntry: false })?.size ?? 0) > 0) return;
    if (performance.now() >= deadline) throw busyError(connection);
    await pause();
  }
}

/**
 * Returns the callback that decides how many pages to copy next.
 *
 * SQLite copies later writes of this connection too. A commit of another connection makes it restart the copy. After
 * each restart the step doubles, until the copy fits between two commits of other connections.
 */
function createPace(connection: Connection): (progress: BackupProgress) => number {
  let pages = PAGES_PER_STEP;
  let copied = 0;
  let movedAt = performance.now();
  return ({ totalPages, remainingPages }) => {
    const now = performance.now();
    const reached = totalPages - remainingPages;
    const isRestarted = reached <= copied && reached === Math.min(pages, totalPages);
    if (isRestarted) pages = Math.min(pages * 2, MAX_PAGES);
    if (isRestarted || reached > copied) movedAt = now;
    if (now - movedAt > connection.busyTimeout) throw busyError(connection);
    copied = reached;
    return pages;
  };
}

function explain(connection: Connection, target: string, error: unknown): unknown {
  if (isFlagsError(error)) return error;
  if ((error as { code?: unknown }).code === 'EEXIST') return occupied(target);
  if (error instanceof NameNotDurable) return nameNotDurable(target, error);
  try {
    assertOpen(connection);
  } catch (closed) {
    return closed;
  }
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

function unsupported(): FlagsError {
  const message = 'The given database cannot be backed up: it lacks the method backup() of better-sqlite3.';
  return new FlagsError('storage_unsupported', message);
}
