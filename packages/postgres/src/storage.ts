import { FlagsError, type FlagsStorage } from '@flags/core';
import { prepareCommit } from '@flags/core/integration/postgres';
import { runCommit } from './commit/commit.js';
import { openPool, surviveIdleErrors } from './connection/session.js';
import { dataVersionReader } from './data-version.js';
import { type Database, openDatabase } from './database.js';
import { createDocuments } from './documents.js';
import type { PgPool } from './driver.js';
import { createFeed } from './feed/feed.js';
import { channelOf, createListening, createNotifier, type Listener, type Throttle } from './notifications.js';
import { assertOptions, type CheckedOptions, type PostgresStorageOptions } from './options.js';
import { migrate } from './schema/migrate.js';
import { lockKey, tableNames } from './tables.js';
import { postgresUsage } from './usage/usage.js';

/**
 * Opens a storage in a PostgreSQL database (13 or newer), for any number of nodes. Creates the tables, or migrates them.
 * Works behind a proxy that pools transactions, except for the connection that listens (`listen`).
 *
 * Safe to call concurrently, from any number of nodes. `close` waits for running calls, and ends the pool only if the
 * storage has opened it. Afterwards every call fails with `closed`.
 *
 * Opening fails with:
 * - `invalid_input` for invalid options;
 * - `storage_unsupported` if `pg` is missing, if the database refuses the user, lacks a right, is older than 13 or not UTF-8,
 *   or if the tables are of a newer version, or not made by a release;
 * - `storage_unavailable` if the database cannot be reached within `connectTimeout`.
 *
 * Later calls may fail with `storage_unavailable` and `storage_busy`: then nothing has changed. If the answer to a commit is
 * lost, the storage asks the database for the outcome. It fails with `outcome_unknown` if it gets none.
 *
 * @example
 * const storage = postgresStorage('postgres://flags@db.internal/app');
 * const flags = await openFlags({ storage });
 *
 * @example
 * // With the host's own pool, in a schema of its own:
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * const storage = postgresStorage({ pool, schema: 'flags' });
 */
export async function postgresStorage(options: PostgresStorageOptions): Promise<FlagsStorage> {
  const checked = assertOptions(options);
  const { pool, release } = await takePool(checked);
  try {
    const database = openDatabase(pool, checked);
    await migrate(database, checked);
    const channel = channelOf(checked);
    const listener = await createListening(pool, { ...checked, ...channel });
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

async function takePool({ source, connectTimeout }: CheckedOptions): Promise<Source> {
  if ('connectionString' in source) {
    const pool = await openPool({ connectionString: source.connectionString, connectTimeout });
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
  readonly notifier: Throttle;
}

function storageOn({ database, checked, release, listener, notifier }: Parts): FlagsStorage {
  const names = tableNames(checked);
  const commitLock = lockKey('commit', checked);
  const readDataVersion = dataVersionReader(database, names);
  const documents = createDocuments(database, names);
  const readEvents = createFeed({ database, names, commitLock });
  const { outcomeTimeout } = checked;
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  /** Runs a call, and lets `close` wait for it. Fails with `closed` after `close`. */
  async function whileOpen<T>(work: () => Promise<T>): Promise<T> {
    if (closing) throw new FlagsError('closed', 'The storage has been closed.');
    const call = work();
    running.add(call);
    try {
      return await call;
    } finally {
      running.delete(call);
    }
  }

  async function close(): Promise<void> {
    await listener?.close();
    await Promise.allSettled(running);
    await notifier.finish();
    await release();
  }

  return {
    get: (key) => whileOpen(() => documents.get(key)),
    list: (query) => whileOpen(() => documents.list(query)),
    commit: async (commit) => {
      const prepared = prepareCommit(commit);
      return whileOpen(async () => {
        const result = await runCommit(prepared, { database, names, location: checked, commitLock, outcomeTimeout });
        if (result.ok && prepared.events.length > 0) notifier.request();
        return result;
      });
    },
    events: (query) => whileOpen(() => readEvents(query)),
    dataVersion: () => whileOpen(readDataVersion),
    usage: postgresUsage({ database, location: checked, whileOpen }),
    ...(listener && { watch: listener.watch }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
