import type { Awaitable } from '../../common.types.js';
import { FlagsError } from '../../errors.js';
import { applyCommit, type PreparedCommit, prepareCommit } from '../commit.js';
import type { CommitResult, Storage } from '../port.js';
import { backUp } from './backup.js';
import { assertOpen, readWhenFree } from './busy.js';
import { type Connection, inSnapshot, preparePluck, type SqliteDatabase } from './database.js';
import { type SqliteDocuments, sqliteDocuments } from './documents.js';
import { type SqliteEvents, sqliteEvents } from './events.js';
import { createFileCheck } from './file-in-place.js';
import { sqliteMetrics } from './metrics.js';
import { createVersionCheck, migrate } from './migrations.js';
import { explainOpening, openDatabase } from './open-database.js';
import { assertOptions, type CheckedOptions, type SqliteStorageOptions } from './options.js';
import { createLogCleaner, logSizeReader } from './write-ahead-log.js';
import { createWriteQueue } from './write-queue.js';

interface Target {
  readonly documents: SqliteDocuments;
  readonly events: SqliteEvents;
}

/** Most commits put one document that is as expected: that takes one statement. All others are looked through first. */
export function applyToSqlite(commit: PreparedCommit, target: Target): CommitResult {
  return putOne(commit, target) ?? applyCommit(commit, target);
}

/** Undefined when nothing was written. */
function putOne({ writes, checks, vacant, events }: PreparedCommit, target: Target): CommitResult | undefined {
  const [write] = writes;
  if (!write || writes.length > 1 || vacant.length > 0) return undefined;
  if (checks.some(({ key, expected }) => target.documents.revision(key) !== expected)) return undefined;
  if (!target.documents.putExpected(write)) return undefined;
  const revisions = [write.expected + 1];
  target.events.append(events, revisions);
  return { ok: true, revisions };
}

/**
 * Reads what moves with every change of the database: SQLite counts the rows that this connection has changed, and tells
 * whether any other connection has committed.
 */
export function dataVersionReader(database: SqliteDatabase): () => string {
  const own = preparePluck(database, 'SELECT total_changes()');
  const others = preparePluck(database, 'PRAGMA data_version');
  return () => `${others.get()}.${own.get()}`;
}

/** A storage in a SQLite database, which can be backed up. */
export interface SqliteStorage extends Storage {
  /**
   * Copies the database into a new file, while everybody goes on reading and writing. The copy is the state of one moment:
   * all that was acknowledged before the call, and of what is written meanwhile everything up to some commit. It is the
   * whole database, the host's own tables included where the handle is the host's. To restore it, stop every process and
   * put the file in the database's place; there must be no `-wal` and `-shm` of the old database beside it.
   *
   * The file gets its name when it is complete and flushed to disk: a crash leaves no half backup, at most files
   * `<path>.<id>.partial*`. It has mode 0600. Nothing is overwritten. `close` waits for backups that are under way.
   *
   * @throws FlagsError `invalid_input` (no usable path, or one that exists), `storage_unavailable` (the file cannot be
   * written), `storage_busy` (a transaction of the host's stayed open), `storage_unsupported` (a handle without
   * `backup`), `closed`
   * @example
   * const storage = await sqliteStorage('./flags.db');
   * const flags = await createFlags({ storage });
   * await storage.backup(`./flags-${Date.now()}.backup`);
   */
  backup(path: string): Promise<void>;
}

/**
 * Keeps everything in a SQLite database, for any number of processes on one machine. Nothing is acknowledged before it is
 * durable; commits that arrive together share one transaction and one flush to disk, and are still checked and answered
 * each for itself. While another connection holds the lock, calls wait without stopping the event loop.
 *
 * Creates its tables, or brings them up to date. `close` finishes what was asked before, and closes the database only when
 * the storage has opened it; afterwards every call fails with `closed`.
 *
 * Empties the write-ahead log of a database that it opened after five seconds without a write. On a handle of the host's,
 * checkpoints are the host's.
 *
 * What a disk does later (full, failing, damaged, files removed or replaced) makes the calls that it concerns fail with
 * `storage_unavailable`, nothing changed; others go on, and so do these as soon as it is put right. A disk that fails to
 * flush a commit, and goes on failing, leaves `outcome_unknown`.
 *
 * Fails with `storage_unsupported` when better-sqlite3 is missing or does not fit this Node, when the database cannot be
 * opened or written to, or when a newer version of the library has made its tables; with `invalid_input` for
 * impossible options; with `storage_busy` when the database stays locked for `busyTimeout`, as every later call may.
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
  const { source, tablePrefix, busyTimeout } = assertOptions(options);
  const { connection, name, release } = await connect(source, busyTimeout);
  try {
    // Within the transaction: the -wal that is there then is this connection's, not one that its last user takes along.
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
  /** Tells people which database is meant. */
  readonly name: string;
  /** Closes the connection, unless it is the host's. */
  readonly release: () => void;
}

async function connect(source: CheckedOptions['source'], busyTimeout: number): Promise<Session> {
  if ('database' in source) {
    const connection = { database: source.database, busyTimeout, isHosts: true };
    assertOpen(connection);
    return { connection, name: 'The given database', release: () => undefined };
  }
  const connection = await openDatabase({ path: source.path, busyTimeout });
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
  const { writeQueue, documents, events, stamp, metrics, backups, logCleaner, walBytes } = partsOn(opened);
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
    await metrics.close();
    release();
  }

  return {
    metrics,
    get: (key) => read(() => documents.get(key)),
    list: (query) => read(() => documents.list(query)),
    dataVersion: () => read(stamp),
    walBytes,
    events: (query) =>
      read(() => {
        // A log can still be read; a feed promises what other processes do as well, and they no longer use this file.
        if (query.order === 'oldest-first') assertFile();
        return query.total ? inSnapshot(connection.database, () => events.query(query)) : events.query(query);
      }),
    async commit(commit) {
      const prepared = prepareCommit(commit);
      return writeQueue.run(() => applyToSqlite(prepared, { documents, events }));
    },
    async backup(path) {
      assertOpen();
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

/** What works on the connection. */
function partsOn({ connection, assertFile, tablePrefix }: Opened) {
  const { database } = connection;
  const assertVersion = createVersionCheck(database, tablePrefix);
  const logCleaner = connection.isHosts ? undefined : createLogCleaner(database);
  // A process that was killed may have left a large log.
  logCleaner?.noteWrite();
  const writeQueue = createWriteQueue(connection, () => {
    assertFile();
    assertVersion();
    logCleaner?.noteWrite();
  });
  return {
    writeQueue,
    documents: sqliteDocuments(database, tablePrefix),
    events: sqliteEvents(database, tablePrefix),
    stamp: dataVersionReader(database),
    metrics: sqliteMetrics({ connection, writeQueue, tablePrefix }),
    backups: createBackups(connection),
    logCleaner,
    walBytes: logSizeReader(database),
  };
}

/** Backups need the connection until they have ended. */
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
