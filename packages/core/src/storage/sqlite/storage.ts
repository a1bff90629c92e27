import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Awaitable } from '../../base/common.types.js';
import { FlagsError } from '../../base/errors.js';
import { applyCommit, type PreparedCommit, prepareCommit } from '../commit.js';
import type { FlagsStorage } from '../port.js';
import { backUp } from './backup.js';
import {
  assertOpen,
  type Connection,
  createWriteQueue,
  inSnapshot,
  pathOf,
  preparePluck,
  readWhenFree,
  type SqliteDatabase,
  unavailable,
} from './database.js';
import { eventAppender, eventReader, sqliteDocuments } from './documents.js';
import { assertMigrated, migrate, newerSchema, olderSchema, SCHEMA_VERSION, versionQuery } from './migrations.js';
import { isAdapted } from './node-database.js';
import { explainOpening, openDatabase } from './open-database.js';
import { assertOptions, type CheckedOptions, type SqliteStorageOptions } from './options.js';
import { sqliteUsage } from './usage.js';

/** Returns the characters that a commit writes. */
function sizeOf({ writes, events }: PreparedCommit): number {
  const documents = writes.reduce((sum, { content }) => {
    return typeof content === 'object' && content ? sum + content.body.length : sum;
  }, 0);
  return events.reduce((sum, { data, before }) => sum + data.length + before.length, documents);
}

/**
 * Returns a function that reads the data version: the number of rows that this connection has changed, and SQLite's version
 * for commits of other connections.
 */
function createDataVersionReader(database: SqliteDatabase): () => string {
  const own = preparePluck(database, 'SELECT total_changes()');
  const others = preparePluck(database, 'PRAGMA data_version');
  return () => `${others.get()}.${own.get()}`;
}

/** A storage in a SQLite database, with backups. */
export interface SqliteStorage extends FlagsStorage {
  /**
   * Copies the database into a new file, while any process reads and writes. A worker thread makes the copy.
   *
   * The copy holds one consistent state: every change that was acknowledged before the call, and later changes up to some
   * commit. It contains the whole database, including the host's own tables. It fails if an index of the host needs a
   * function that the host has registered.
   *
   * Writers wait for the copy if the host's database is not in WAL mode. The copy blocks the event loop if the database is
   * in memory, or if the host has another copy of better-sqlite3 than the library finds.
   *
   * The file has mode 0600. It gets its name when it is complete and flushed; a crash leaves at most files named
   * `<path>.<id>.partial*`. Existing files are never overwritten. `close` waits for running backups. Safe to call
   * concurrently.
   *
   * To restore, stop every process, remove the `-wal` and `-shm` of the old database, and put the backup in its place.
   *
   * @param path the file to create, in an existing directory
   * @throws FlagsError `invalid_input` (the path is unusable or exists), `storage_unavailable` (the file cannot be written),
   * `storage_busy` (the database stayed locked, or a transaction of the host open), `closed`
   * @example
   * const storage = await sqliteStorage('./flags.db');
   * const flags = await openFlags({ storage });
   * await storage.backup(`./flags-${Date.now()}.backup`);
   */
  backup(path: string): Promise<void>;
}

/**
 * Opens a storage in a SQLite database, for any number of processes on one machine. Creates or migrates its tables, unless
 * `migrate` is false.
 *
 * A change is acknowledged when it is durable. Commits that arrive together share one transaction and one flush to
 * disk; each is checked and acknowledged separately. While another connection holds the lock, calls wait without
 * blocking the event loop.
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
 * const flags = await openFlags({ storage });
 *
 * @example
 * // In the host's own database, beside the host's tables:
 * const database = new Database('./app.db');
 * const storage = await sqliteStorage({ database, tablePrefix: 'feature_' });
 */
export async function sqliteStorage(options: SqliteStorageOptions): Promise<SqliteStorage> {
  const checked = assertOptions(options);
  const { tablePrefix } = checked;
  const { connection, driver, name, release } = await connect(checked);
  try {
    // Inside the transaction, so that the -wal belongs to this connection, and not to a process that is closing.
    const assertFile = await createWriteQueue(connection).run(() => {
      prepareSchema(connection, tablePrefix);
      return createFileCheck(connection.database);
    });
    return storageOn({ connection, driver, assertFile, tablePrefix, release });
  } catch (error) {
    release();
    throw explainOpening(error, name);
  }
}

interface Session {
  readonly connection: Connection;
  readonly driver: NonNullable<FlagsStorage['driver']>;
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
    const name = isAdapted(source.database) ? 'node:sqlite' : 'better-sqlite3';
    const driver = Object.freeze({ name, reason: 'the host opened the database' } as const);
    return { connection, driver, name: 'The given database', release: () => undefined };
  }
  if (!mayMigrate && !existsSync(source.path.trim())) throw olderSchema(0, tablePrefix);
  const connection = await openDatabase({ ...source, busyTimeout, check });
  const { name, reason } = connection.driver;
  return {
    connection,
    driver: Object.freeze({ name, reason }),
    name: source.path,
    release: () => connection.database.close(),
  };
}

function prepareSchema({ database }: Connection, prefix: string): void {
  const encoding = database.pragma('encoding', { simple: true });
  if (encoding !== 'UTF-8') {
    const message = `The database stores text as ${String(encoding)}, which sorts differently. Use a database with UTF-8.`;
    throw new FlagsError('storage_unsupported', message);
  }
  migrate(database, prefix);
}

interface OpenedSession extends Pick<Session, 'connection' | 'driver' | 'release'> {
  readonly assertFile: () => void;
  readonly tablePrefix: string;
}

function storageOn({ connection, driver, assertFile, tablePrefix, release }: OpenedSession): SqliteStorage {
  const { database } = connection;
  const idleCheckpoint = connection.isHosts ? undefined : createIdleCheckpoint(database, assertFile);
  // A killed process may have left a large log.
  idleCheckpoint?.schedule();
  const version = preparePluck(database, versionQuery(tablePrefix));
  const writeQueue = createWriteQueue(connection, {
    begun() {
      assertFile();
      const found = (version.get() as number | undefined) ?? 0;
      // The statements of this version may not fit the tables of a newer one, and it does not know the rules for writing them.
      if (found > SCHEMA_VERSION) throw newerSchema(found, tablePrefix);
      idleCheckpoint?.schedule();
    },
    committed: assertFile,
  });
  const target = { documents: sqliteDocuments(database, tablePrefix), events: eventAppender(database, tablePrefix) };
  const readEvents = eventReader(database, tablePrefix);
  const dataVersion = createDataVersionReader(database);
  const usage = sqliteUsage({ connection, writeQueue, tablePrefix });
  const backups = new Set<Promise<void>>();
  let closing: Promise<void> | undefined;

  function assertOpen(): void {
    if (closing) throw closedError();
  }

  function read<T>(work: () => T): Awaitable<T> {
    return closing ? Promise.reject(closedError()) : readWhenFree(connection, work);
  }

  async function close(): Promise<void> {
    await writeQueue.close();
    idleCheckpoint?.stop();
    await Promise.allSettled(backups);
    await usage.close();
    release();
  }

  return {
    usage,
    driver,
    get: (key) => read(() => target.documents.get(key)),
    list: (query) => read(() => target.documents.list(query)),
    dataVersion: () => read(dataVersion),
    walBytes: createLogSizeReader(database),
    events: (query) =>
      read(() => {
        // After the file is removed, a feed would miss the events of other processes. A log may still be read.
        if (query.order === 'oldest-first') assertFile();
        return query.total ? inSnapshot(connection.database, () => readEvents(query)) : readEvents(query);
      }),
    async commit(commit) {
      const prepared = prepareCommit(commit);
      return writeQueue.run(() => applyCommit(prepared, target), sizeOf(prepared));
    },
    async backup(path) {
      assertOpen();
      assertFile();
      const backup = backUp(connection, path);
      backups.add(backup);
      return backup.finally(() => backups.delete(backup));
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

/**
 * Returns a check that throws `storage_unavailable` unless the database path, its `-wal` and its `-shm` are the files that
 * this connection has open.
 *
 * If another program removes or replaces them, SQLite reports no error. Without the path or its `-wal`, it writes to
 * unlinked files, and the commits are lost when the connection closes. Without the `-shm`, the next process creates a
 * new one: the processes no longer see each other's locks, and overwrite each other's commits. A database in memory
 * always passes.
 *
 * Reads the paths only if their directory has changed since the check last passed: a removal or a replacement changes it.
 * Since Linux 6.13, reading the times of a file makes the next write change them, and the next flush store them too, which
 * would cost a quarter of a change.
 *
 * @param now milliseconds since 1970, by the clock of the file system
 */
export function createFileCheck(database: SqliteDatabase, now: () => number = Date.now): () => void {
  const path = pathOf(database);
  if (path === '') return () => undefined;
  const paths = [path, `${path}-wal`, `${path}-shm`];
  let opened = paths.map(identityOf);
  let passed: bigint | undefined;

  function assertInPlace(): void {
    const found = paths.map(identityOf);
    const isInPlace = () => found.every((identity, index) => identity === opened[index]);
    if (isInPlace()) return;
    if (found[0] === opened[0]) {
      // The first transaction creates the log. Changing the journal mode removes it, and later creates new files.
      const hasLog = database.pragma('journal_mode', { simple: true }) === 'wal';
      opened = found.map((identity, index) => (index === 0 || hasLog ? (opened[index] ?? identity) : undefined));
      if (!hasLog || isInPlace()) return;
    }
    throw unavailable(
      'The file of the SQLite database, its -wal or its -shm has been removed or replaced while it was open: ' +
        'put it back, or restart every process that has the database open',
    );
  }

  return () => {
    // Read first, so that the next call notices a change during this one.
    const changedAt = changeTimeOf(dirname(path));
    if (changedAt !== undefined && changedAt === passed) return;
    passed = undefined;
    assertInPlace();
    if (changedAt !== undefined && now() - Number(changedAt / 1_000_000n) > SETTLED) passed = changedAt;
  };
}

/**
 * The age of a directory's change time before two equal times prove that nothing has changed, in milliseconds. Some file
 * systems store times with a resolution of two seconds.
 */
const SETTLED = 3_000;

/** Returns when a directory was last changed, in nanoseconds since 1970; undefined if it cannot be reached. */
function changeTimeOf(directory: string): bigint | undefined {
  try {
    return statSync(directory, { bigint: true, throwIfNoEntry: false })?.ctimeNs;
  } catch {
    return undefined;
  }
}

/** Returns device and inode, which identify a file while it is open; undefined if the file cannot be reached. */
function identityOf(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && `${found.dev} ${found.ino}`;
  } catch {
    return undefined;
  }
}

/** Returns a function that reads the size of the write-ahead log in bytes; undefined if there is none. */
function createLogSizeReader(database: SqliteDatabase): () => number | undefined {
  const path = pathOf(database);
  if (path === '') return () => undefined;
  return () => {
    try {
      return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size;
    } catch {
      return undefined;
    }
  };
}

/** Time without a write after which the log is emptied, in milliseconds. */
const IDLE = 5_000;

/**
 * Empties the write-ahead log when the connection has not written for a while. If another connection still uses the log,
 * or a file is not in place, the checkpoint is tried again later. The timer does not keep the process alive.
 *
 * @param assertFile throws if this connection no longer has the files of the database open: other processes then use other
 * locks, and the checkpoint would remove their commits
 * @param idle milliseconds
 */
export function createIdleCheckpoint(database: SqliteDatabase, assertFile: () => void, idle = IDLE) {
  let timer: NodeJS.Timeout | undefined;

  function schedule(): void {
    timer = timer?.refresh() ?? setTimeout(() => emptyLog() || schedule(), idle).unref();
  }

  /** Returns whether the log is empty. */
  function emptyLog(): boolean {
    try {
      assertFile();
      return checkpointUnlessBusy(database);
    } catch {
      // The disk fails, or a file is missing. The log is intact, and the next commit reports the error.
      return false;
    }
  }

  return {
    /** Call this with every write. */
    schedule,
    stop: () => clearTimeout(timer),
  };
}

/** Moves the log into the database without waiting for other connections. Returns whether the log is empty. */
function checkpointUnlessBusy(database: SqliteDatabase): boolean {
  const timeout = database.pragma('busy_timeout', { simple: true });
  try {
    database.pragma('busy_timeout = 0');
    const [result] = database.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[];
    return result?.busy === 0;
  } finally {
    database.pragma(`busy_timeout = ${timeout}`);
  }
}
