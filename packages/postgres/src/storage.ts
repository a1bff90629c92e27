import { FlagsError, prepareCommit, type Storage } from '@flags/core';
import { createOutcomes, runCommit } from './commit/commit.js';
import { openPool, surviveIdleErrors } from './connection/pool.js';
import { dataVersionReader } from './data-version.js';
import { type Database, openDatabase } from './database.js';
import { createDocuments } from './documents.js';
import type { PgPool } from './driver.js';
import { createFeed } from './feed/feed.js';
import { createListening, type Listener } from './listening/listener.js';
import { channelOf, createNotifier, type Notifier } from './listening/notifier.js';
import { postgresMetrics } from './metrics/metrics.js';
import { assertOptions, type CheckedOptions, type PostgresStorageOptions } from './options.js';
import { migrate } from './schema/migrate.js';
import { lockKey, tableNames } from './tables.js';

/**
 * Keeps everything in a PostgreSQL database, for any number of nodes. No session state is needed: it works behind a proxy
 * that pools transactions, apart from the connection that listens (`listen`).
 *
 * Creates its tables, or brings them up to date. `close` finishes what was asked before, and ends the pool only when the
 * storage has opened it; afterwards every call fails with `closed`.
 *
 * Fails with `invalid_input` for impossible options; with `storage_unsupported` when `pg` is missing, when the database
 * refuses the user, lacks a right or is of another encoding, or when a newer version of the library has made its tables; with
 * `storage_unavailable` when the database cannot be reached within `connectTimeout`, as every later call may: then nothing
 * has changed. A commit whose answer is lost is looked up; it fails with `outcome_unknown` when that is impossible.
 *
 * @example
 * const storage = postgresStorage('postgres://flags@db.internal/app');
 * const flags = await createFlags({ storage });
 *
 * @example
 * // In the host's own database, with the host's own pool, in a schema of its own:
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const storage = postgresStorage({ pool, schema: 'flags' });
 */
export async function postgresStorage(options: PostgresStorageOptions): Promise<Storage> {
  const checked = assertOptions(options);
  const { pool, release } = takePool(checked);
  try {
    const database = openDatabase(pool, checked);
    await migrate(database, checked);
    const channel = channelOf(checked);
    const listener = createListening(pool, { ...checked, ...channel });
    const notifier = createNotifier(database, channel);
    return storageOn({ database, checked, release, listener, notifier });
  } catch (error) {
    await release();
    throw error;
  }
}

interface Source {
  readonly pool: PgPool;
  /** Ends the pool, unless it is the host's. */
  readonly release: () => Promise<unknown>;
}

function takePool({ source, connectTimeout }: CheckedOptions): Source {
  if ('connectionString' in source) {
    const pool = openPool({ connectionString: source.connectionString, connectTimeout });
    surviveIdleErrors(pool);
    return { pool, release: () => pool.end() };
  }
  const stop = surviveIdleErrors(source.pool);
  return { pool: source.pool, release: async () => stop() };
}

interface Parts extends Pick<Source, 'release'> {
  readonly database: Database;
  readonly checked: CheckedOptions;
  readonly listener: Listener | undefined;
  readonly notifier: Notifier;
}

function storageOn({ database, checked, release, listener, notifier }: Parts): Storage {
  const names = tableNames(checked);
  const commitLock = lockKey('commit', checked);
  const readDataVersion = dataVersionReader(database, names);
  const documents = createDocuments(database, names);
  const readEvents = createFeed({ database, names, commitLock });
  const outcomes = createOutcomes({ database, names, time: checked.outcomeTimeout });
  const underway = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  /** Runs a call, and lets `close` wait for it. Fails with `closed` after `close`. */
  async function whileOpen<T>(work: () => Promise<T>): Promise<T> {
    if (closing) throw new FlagsError('closed', 'The storage has been closed.');
    const running = work();
    underway.add(running);
    try {
      return await running;
    } finally {
      underway.delete(running);
    }
  }

  const metrics = postgresMetrics({ database, place: checked, whileOpen });

  async function close(): Promise<void> {
    await listener?.close();
    await Promise.allSettled(underway);
    await notifier.finish();
    await release();
  }

  return {
    get: (key) => whileOpen(() => documents.get(key)),
    list: (query) => whileOpen(() => documents.list(query)),
    commit: async (commit) => {
      const prepared = prepareCommit(commit);
      return whileOpen(async () => {
        const result = await runCommit(prepared, { database, names, commitLock, outcomes });
        if (result.ok && prepared.events.length > 0) notifier.notify();
        return result;
      });
    },
    events: (query) => whileOpen(() => readEvents(query)),
    dataVersion: () => whileOpen(readDataVersion),
    metrics,
    ...(listener && { watch: listener.watch }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
