import { FlagsError, type Storage } from '@flags/core';
import { prepareCommit } from '@flags/core/integration';
import { carryOut, createOutcomes } from './commit/commit.js';
import { openPool, surviveIdleErrors } from './connection/pool.js';
import { dataVersionReader } from './data-version.js';
import { type Database, openDatabase } from './database.js';
import { createDocuments } from './documents.js';
import type { PgPool } from './driver.js';
import { counterFeed, type Feed, placeFeed } from './feed/feed.js';
import type { FeedKind } from './feed/order.js';
import { createKnownPositions, type KnownPositions, snapshotFeed } from './feed/snapshot-feed.js';
import { createListening, type Listener } from './listening/listener.js';
import { channelOf, createNotifier, type Notifier } from './listening/notifier.js';
import { postgresMetrics } from './metrics/metrics.js';
import { assertOptions, type CheckedOptions, type PostgresStorageOptions } from './options.js';
import { migrate } from './schema/migrate.js';
import { readServerKind, type ServerKind } from './server-kind.js';
import { lockKey, type TableNames, tableNames } from './tables.js';

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
    const names = tableNames(checked);
    const server = await readServerKind(openDatabase(pool, checked));
    // Databases that only speak the protocol may not know the setting.
    const idleTimeout = server.hasTransactionIds ? checked.queryTimeout : undefined;
    const database = openDatabase(pool, { ...checked, idleTimeout });
    const kind = await migrate(database, { ...checked, server });
    const channel = channelOf(checked);
    const listener = createListening(pool, { ...checked, ...channel });
    const notifier = createNotifier(database, channel);
    return storageOn({ database, names, server, kind, checked, release, listener, notifier });
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
  readonly names: TableNames;
  readonly server: ServerKind;
  readonly kind: FeedKind;
  readonly checked: CheckedOptions;
  readonly listener: Listener | undefined;
  readonly notifier: Notifier;
}

function storageOn(parts: Parts): Storage {
  const { database, names, server, checked, release, listener, notifier } = parts;
  const readStamp = dataVersionReader(database, parts);
  const documents = createDocuments(database, names);
  const places = createKnownPositions();
  const feed = createFeed(parts, places);
  const outcomes = server.hasTransactionIds
    ? createOutcomes({ database, names, time: checked.outcomeTimeout })
    : undefined;
  const commitParts = {
    database,
    names,
    order: feed.order,
    outcomes,
    places,
    placeFeed: () => placeFeed(database, names),
  };
  const underway = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  /** Remembers what is under way, for who closes. */
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

  const metrics = postgresMetrics({ database, place: checked, server, whileOpen });

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
        const result = await carryOut(prepared, commitParts);
        if (result.ok && prepared.events.length > 0) notifier.notify();
        return result;
      });
    },
    events: (query) => whileOpen(() => feed.query(query)),
    dataVersion: () => whileOpen(readStamp),
    metrics,
    ...(listener && { watch: listener.watch }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function createFeed({ database, names, server, kind, checked }: Parts, places: KnownPositions): Feed {
  if (kind === 'snapshot') return snapshotFeed({ database, names, commitLock: lockKey('commit', checked), places });
  return counterFeed({ statements: database, names, hasTransactionIds: server.hasTransactionIds });
}
