import { existsSync } from 'node:fs';
import type { Awaitable } from '../../base/common.types.js';
import { FlagsError } from '../../errors.js';
import { applyCommit, type CommitTarget, type PreparedCommit, prepareCommit } from '../commit.js';
import type { CommitResult, Storage } from '../port.js';
import { backUp } from './backup.js';
import { eventAppender, type SqliteDocuments, sqliteDocuments } from './commit-target.js';
import {
  assertOpen,
  type Connection,
  inSnapshot,
  preparePluck,
  readWhenFree,
  type SqliteDatabase,
} from './database.js';
import { assertMigrated, createFileCheck, createVersionCheck, migrate, olderSchema } from './database-file.js';
import { eventReader } from './events.js';
import { explainOpening, openDatabase } from './open-database.js';
import { assertOptions, type CheckedOptions, type SqliteStorageOptions } from './options.js';
import { sqliteUsage } from './usage.js';
import { createLogCleaner, logSizeReader } from './write-ahead-log.js';
import { createWriteQueue } from './write-queue.js';

interface Target extends CommitTarget {
  readonly documents: SqliteDocuments;
}

/** Most commits write one document that is as expected: they take one statement. Others are checked first. */
function applyToSqlite(commit: PreparedCommit, target: Target): CommitResult {
  return putOne(commit, target) ?? applyCommit(commit, target);
}

/** Returns the characters that a commit writes. */
function sizeOf({ writes, events }: PreparedCommit): number {
  const documents = writes.reduce((sum, { content }) => {
    return typeof content === 'object' && content ? sum + content.body.length : sum;
  }, 0);
  return events.reduce((sum, { data, before }) => sum + data.length + before.length, documents);
}

/** Returns undefined if nothing was written. */
function putOne({ writes, checks, vacant, events }: PreparedCommit, target: Target): CommitResult | undefined {
  const [write] = writes;
  if (!write || writes.length > 1 || vacant.length > 0) return undefined;
  if (checks.some(({ key, expected }) => target.documents.revision(key) !== expected)) return undefined;
  if (!target.documents.putExpected(write)) return undefined;
  const revisions = [write.expected + 1];
  target.events.append(events, revisions, writes);
  return { ok: true, revisions };
}

/**
 * Returns a function that reads the data version: the number of rows that this connection has changed, and SQLite's version
 * for commits of other connections.
 */
function dataVersionReader(database: SqliteDatabase): () => string {
  const own = preparePluck(database, 'SELECT total_changes()');
  const others = preparePluck(database, 'PRAGMA data_version');
  return () => `${others.get()}.${own.get()}`;
}

/** A storage in a SQLite database, with backups. */
export interface SqliteStorage extends Storage {
  /**
   * Copies the database into a new file, while any process reads and writes.
   *
   * The copy holds one consistent state: every change that was acknowledged before the call, and later changes up to some
   * commit. It contains the whole database, including the host's own tables.
   *
   * The file has mode 0600. It gets its name when it is complete and flushed; a crash leaves at most files named
   * `<path>.<id>.partial*`. Existing files are never overwritten. `close` waits for running backups. Safe to call
   * concurrently.
   *
   * To restore, stop every process, remove the `-wal` and `-shm` of the old database, and put the backup in its place.
   *
   * @param path the file to create, in an existing directory
   * @throws FlagsError `invalid_input` (the path is unusable or exists), `storage_unavailable` (the file cannot be written),
   * `storage_busy` (a transaction of the host stayed open), `storage_unsupported` (the handle has no `backup`), `closed`
   * @example
   * const storage = await sqliteStorage('./flags.db');
   * const flags = await createFlags({ storage });
   * await storage.backup(`./flags-${Date.now()}.backup`);
   */
  backup(path: string): Promise<void>;
}

/**
 * Opens a storage in a SQLite database, for any number of processes on one machine. Creates or migrates its tables, unless
 * `migrate` is false.
 *
 * A change is acknowledged when it is durable. Commits that arrive together share one transaction and one flush to disk;
 * each is still checked and answered by itself. While another connection holds the lock, calls wait without blocking the
 * event loop.
 *
 * The storage empties the write-ahead log of a database that it opened after five seconds without a write. On a handle of
 * the host it leaves checkpoints to the host. `close` completes earlier calls, and closes the database only if the storage
 * opened it.
 *
 * Later calls throw:
 *
 * - `storage_busy`: the database stayed locked for `busyTimeout`; nothing has changed
 * - `storage_unavailable`: the disk is full, failing or damaged, or the files were removed or replaced; nothing has changed.
 *   Calls succeed again when the cause is removed
 * - `outcome_unknown`: the disk failed while it flushed the commit; read the state before you repeat the change
 * - `storage_unsupported`: a newer version of the library has migrated the tables
 * - `closed`: the storage or its database has been closed
 *
 * @throws FlagsError `invalid_input` (invalid options), `storage_unsupported` (better-sqlite3 is missing or does not fit this
 * Node; the database cannot be opened or written to; its tables are newer, or older with `migrate: false`), `storage_busy`
 *
 * @example
 * const storage = await sqliteStorage('./flags.db');
 * const flags = await createFlags({ storage });
 *
 * @example
 * // In the host's own database, beside the host's tables:
 * const database = new Database('./app.db');
 * const storage = await sqliteStorage({ database, tablePrefix: 'feature_' });
 */
export async function sqliteStorage(options: SqliteStorageOptions): Promise<SqliteStorage> {
  const checked = assertOptions(options);
  const { tablePrefix } = checked;
  const { connection, name, release } = await connect(checked);
  try {
    // Inside the transaction, because only then the -wal belongs to this connection, and not to a process that is closing.
    const assertFile = await createWriteQueue(connection).run(() => {
      prepareSchema(connection, tablePrefix);
      return createFileCheck(connection.database);
    });
    return storageOn({ connection, assertFile, tablePrefix, release });
  } catch (error) {
    release();
    throw explainOpening(error, name);
  }
}

interface Session {
  readonly connection: Connection;
  /** The database in error messages. */
  readonly name: string;
  /** Closes the connection, unless the host opened it. */
  readonly release: () => void;
}

async function connect({ source, tablePrefix, migrate: mayMigrate, busyTimeout }: CheckedOptions): Promise<Session> {
  const check = mayMigrate ? undefined : (database: SqliteDatabase) => assertMigrated(database, tablePrefix);
  if ('database' in source) {
    const connection = { database: source.database, busyTimeout, isHosts: true };
    assertOpen(connection);
    check?.(source.database);
    return { connection, name: 'The given database', release: () => undefined };
  }
  if (!mayMigrate && !existsSync(source.path.trim())) throw olderSchema(0, tablePrefix);
  const connection = await openDatabase({ path: source.path, busyTimeout, check });
  return { connection, name: source.path, release: () => connection.database.close() };
}

function prepareSchema({ database }: Connection, prefix: string): void {
  const encoding = database.pragma('encoding', { simple: true });
  if (encoding !== 'UTF-8') {
    const message = `The database keeps text as ${String(encoding)}, which sorts differently. Use one with UTF-8.`;
    throw new FlagsError('storage_unsupported', message);
  }
  migrate(database, prefix);
}

interface Opened extends Pick<Session, 'connection' | 'release'> {
  readonly assertFile: () => void;
  readonly tablePrefix: string;
}

function storageOn(opened: Opened): SqliteStorage {
  const { connection, assertFile, release } = opened;
  const { writeQueue, target, readEvents, dataVersion, usage, backups, logCleaner, walBytes } = partsOn(opened);
  let closing: Promise<void> | undefined;

  function assertOpen(): void {
    if (closing) throw closedError();
  }

  function read<T>(work: () => T): Awaitable<T> {
    return closing ? Promise.reject(closedError()) : readWhenFree(connection, work);
  }

  async function close(): Promise<void> {
    await writeQueue.close();
    logCleaner?.stop();
    await backups.ended();
    await usage.close();
    release();
  }

  return {
    usage,
    get: (key) => read(() => target.documents.get(key)),
    list: (query) => read(() => target.documents.list(query)),
    dataVersion: () => read(dataVersion),
    walBytes,
    events: (query) =>
      read(() => {
        // A feed must return the events of other processes, which do not write to a removed file. A log may still be read.
        if (query.order === 'oldest-first') assertFile();
        return query.total ? inSnapshot(connection.database, () => readEvents(query)) : readEvents(query);
      }),
    async commit(commit) {
      const prepared = prepareCommit(commit);
      return writeQueue.run(() => applyToSqlite(prepared, target), { bytes: sizeOf(prepared) });
    },
    async backup(path) {
      assertOpen();
      assertFile();
      return backups.begin(path);
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function closedError(): FlagsError {
  return new FlagsError('closed', 'The storage has been closed.');
}

/** Creates the parts that use the connection. */
function partsOn({ connection, assertFile, tablePrefix }: Opened) {
  const { database } = connection;
  const assertVersion = createVersionCheck(database, tablePrefix);
  const logCleaner = connection.isHosts ? undefined : createLogCleaner(database, assertFile);
  // A killed process may have left a large log.
  logCleaner?.noteWrite();
  const writeQueue = createWriteQueue(connection, {
    begun() {
      assertFile();
      assertVersion();
      logCleaner?.noteWrite();
    },
    committed: assertFile,
  });
  return {
    writeQueue,
    target: { documents: sqliteDocuments(database, tablePrefix), events: eventAppender(database, tablePrefix) },
    readEvents: eventReader(database, tablePrefix),
    dataVersion: dataVersionReader(database),
    usage: sqliteUsage({ connection, writeQueue, tablePrefix }),
    backups: createBackups(connection),
    logCleaner,
    walBytes: logSizeReader(database),
  };
}

/** Tracks running backups, because they need the connection. */
function createBackups(connection: Connection) {
  const underWay = new Set<Promise<void>>();
  return {
    begin(path: string): Promise<void> {
      const backup = backUp(connection, path);
      underWay.add(backup);
      return backup.finally(() => underWay.delete(backup));
    },
    ended: (): Promise<unknown> => Promise.allSettled(underWay),
  };
}
