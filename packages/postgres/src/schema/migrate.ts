import { FlagsError } from '@flags/core';
import { pause, sqlState } from '../connection/errors.js';
import type { Database, Statements } from '../database.js';
import { FEED_ROWS, type FeedKind } from '../feed/order.js';
import type { ServerKind } from '../server-kind.js';
import { type Place, tableNames } from '../tables.js';
import { createSchema, migrationStatements, SCHEMA_VERSION, takeMigrationLock } from './migrations.js';

export interface MigrateOptions extends Place {
  readonly migrate: boolean;
  /** What the host has asked for. */
  readonly feed: FeedKind | undefined;
  readonly server: ServerKind;
}

/**
 * Brings the tables to the version that this library knows, and gives the kind of feed that the database keeps. Of nodes
 * that start at the same moment one migrates; the others find the work done.
 *
 * Fails with `storage_unsupported` when a newer library has been here, when `migrate` is false and there is something to do,
 * or when the feed is of another kind than the one asked for.
 */
export async function migrate(database: Database, options: MigrateOptions): Promise<FeedKind> {
  const { server, feed = server.feed } = options;
  let state = await readState(database, options);
  if (state.version < SCHEMA_VERSION) {
    if (!options.migrate) throw olderSchema(state.version, options);
    const work = async (statements: Statements) => {
      const { version, hasSchema } = await readState(statements, options);
      if (!hasSchema) await statements.query(createSchema(options));
      if (version < SCHEMA_VERSION) await statements.query(migrationStatements({ ...options, from: version, feed }));
      return readState(statements, options);
    };
    state = server.hasAdvisoryLocks
      ? await database.transaction(work, { first: takeMigrationLock(options) })
      : await withoutLock(() => database.transaction(work));
  }
  if (state.version > SCHEMA_VERSION) throw newerSchema(state.version, options);
  return agreedFeed(state.feed, options);
}

/** What one meets who makes what another has just made: tables, schemas and types of that name, or their entries. */
const ALREADY_THERE = new Set(['42P07', '42P06', '42710', '23505']);
const ATTEMPTS = 10;
/** Milliseconds. */
const LONGEST_PAUSE = 200;

/** Several may migrate at once: one succeeds, and the others find that it has when they look again. */
async function withoutLock<T>(migrateOnce: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await migrateOnce();
    } catch (error) {
      if (attempt === ATTEMPTS || !ALREADY_THERE.has(sqlState(error) ?? '')) throw error;
    }
    await pause(Math.random() * LONGEST_PAUSE);
  }
}

interface State {
  readonly hasSchema: boolean;
  /** 0: there are no tables. */
  readonly version: number;
  readonly feed: FeedKind | undefined;
}

async function readState(statements: Statements, place: Place): Promise<State> {
  const meta = tableNames(place).table('meta');
  const [found] = await statements.query<{ readonly has_schema: string; readonly has_meta: string }>(
    `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1) AS has_schema, to_regclass($2) IS NOT NULL AS has_meta`,
    [place.schema, meta],
  );
  const hasSchema = found?.has_schema === 't';
  if (found?.has_meta !== 't') return { hasSchema, version: 0, feed: undefined };
  const rows = await statements.query<{ readonly name: string; readonly value: string }>(
    `SELECT name, value FROM ${meta}`,
  );
  const names = new Map(rows.map(({ name, value }) => [name, Number(value)]));
  const feed = names.has(FEED_ROWS.counter) ? 'counter' : 'snapshot';
  return { hasSchema, version: names.get('schema_version') ?? 0, feed };
}

function agreedFeed(kept: FeedKind | undefined, { feed, server }: MigrateOptions): FeedKind {
  const agreed = kept ?? server.feed;
  if (feed !== undefined && feed !== agreed) {
    const message = `The tables order their events by ${agreed}, for good: open the storage with feed: '${agreed}', or without.`;
    throw new FlagsError('storage_unsupported', message);
  }
  if (agreed === 'snapshot' && server.feed === 'counter') {
    const message =
      "The tables order their events by transaction ids, which this database does not have. Create them anew with feed: 'counter'.";
    throw new FlagsError('storage_unsupported', message);
  }
  return agreed;
}

function olderSchema(version: number, { schema, tablePrefix }: Place): FlagsError {
  const command = `npx flags-postgres-sql --schema ${schema} --prefix ${tablePrefix}${version > 0 ? ` --from ${version}` : ''}`;
  const state = version > 0 ? `have schema version ${version}` : 'do not exist';
  return new FlagsError(
    'storage_unsupported',
    `The tables ${schema}.${tablePrefix}* ${state}, and this version of the library needs ${SCHEMA_VERSION}. ` +
      `Run the SQL that \`${command}\` prints, or open the storage without migrate: false.`,
  );
}

function newerSchema(version: number, { schema, tablePrefix }: Place): FlagsError {
  return new FlagsError(
    'storage_unsupported',
    `The tables ${schema}.${tablePrefix}* have schema version ${version}, and this version of the library knows ` +
      `${SCHEMA_VERSION}. Install the newer version of the library that made them.`,
  );
}
