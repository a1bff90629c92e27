import { FlagsError } from '../../errors.js';
import { sqliteMetrics } from '../../metrics/sqlite.js';
import { applyCommit } from '../apply-commit.js';
import type { Storage } from '../port.js';
import { prepareCommit } from '../prepared-commit.js';
import { assertOpen, readWhenFree } from './busy.js';
import type { Connection } from './database.js';
import { sqliteDocuments } from './documents.js';
import { sqliteEvents } from './events.js';
import { migrate } from './migrations.js';
import { openDatabase } from './open-database.js';
import { explainOpening } from './opening-faults.js';
import { type CheckedOptions, checkOptions, type SqliteStorageOptions } from './options.js';
import { inSnapshot } from './snapshot.js';
import { createWriteQueue, type WriteQueue } from './write-queue.js';

/**
 * Keeps everything in a SQLite database, for any number of processes on one machine. Nothing is acknowledged before it is
 * durable; commits that arrive together share one transaction and one flush to disk, and are still checked and answered
 * each for itself. While another connection holds the lock, calls wait without stopping the event loop.
 *
 * Creates its tables, or brings them up to date. `close` finishes what was asked before, and closes the database only when
 * the storage has opened it; afterwards every call fails with `closed`.
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
export async function sqliteStorage(options: SqliteStorageOptions): Promise<Storage> {
  const { source, tablePrefix, busyTimeout } = checkOptions(options);
  const { connection, name, release } = await connect(source, busyTimeout);
  try {
    const writeQueue = createWriteQueue(connection);
    await writeQueue.run(() => prepareSchema(connection, tablePrefix));
    return storageOn({ connection, writeQueue, tablePrefix, release });
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
    const connection = { database: source.database, busyTimeout };
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

interface Parts extends Pick<Session, 'connection' | 'release'> {
  readonly writeQueue: WriteQueue;
  readonly tablePrefix: string;
}

function storageOn({ connection, writeQueue, tablePrefix, release }: Parts): Storage {
  const { database } = connection;
  const documents = sqliteDocuments(database, tablePrefix);
  const events = sqliteEvents(database, tablePrefix);
  const metrics = sqliteMetrics({ connection, writeQueue, tablePrefix });
  let closing: Promise<void> | undefined;

  async function read<T>(work: () => T): Promise<T> {
    if (closing) throw new FlagsError('closed', 'The storage has been closed.');
    return readWhenFree(connection, work);
  }

  async function close(): Promise<void> {
    await writeQueue.close();
    await metrics.close();
    release();
  }

  return {
    metrics,
    get: (key) => read(() => documents.get(key)),
    list: (query) => read(() => documents.list(query)),
    events: (query) =>
      read(() => (query.total ? inSnapshot(database, () => events.query(query)) : events.query(query))),
    async commit(commit) {
      const prepared = prepareCommit(commit);
      return writeQueue.run(() => applyCommit(prepared, { documents, events }));
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}
