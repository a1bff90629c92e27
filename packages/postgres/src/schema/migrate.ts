import { FlagsError } from '@flags/core';
import type { Database, Statements } from '../database.js';
import { alignFeedOffset } from '../feed/position.js';
import { type TableLocation, tableNames } from '../tables.js';
import {
  createSchema,
  MARK,
  MIGRATIONS,
  type Migration,
  migrationStatements,
  newerSchema,
  takeMigrationLocks,
  type Versions,
} from './migrations.js';

export interface MigrateOptions extends Omit<Migration, 'from'> {
  readonly migrate: boolean;
}

/**
 * Makes the tables ready: brings them to this library's schema version, and aligns the feed's offset with this server. Of
 * nodes that start at once, one migrates, and the others find the work done.
 *
 * Fails with `storage_unsupported` if the server cannot be used, if a newer library has migrated the tables, if no release has
 * made them, or if `migrate` is false and a migration is due.
 */
export async function migrate(database: Database, options: MigrateOptions): Promise<void> {
  await assertServer(database);
  const newest = (options.steps ?? MIGRATIONS).length;
  let state = await readState(database, options);
  if (state.version < newest) {
    if (!options.migrate) throw olderSchema({ ...options, version: state.version, newest });
    const work = async (statements: Statements) => {
      const { version, hasSchema } = await readState(statements, options);
      if (!hasSchema) await statements.query(createSchema(options));
      if (version < newest) await statements.query(migrationStatements({ ...options, from: version }));
      return readState(statements, options);
    };
    state = await database.transaction(work, { first: takeMigrationLocks(options) });
  }
  if (state.version > newest) throw newerSchema({ ...options, version: state.version, newest });
  await alignFeedOffset(database, tableNames(options));
}

/** Fails with `storage_unsupported` for a server without 64-bit transaction ids, or a database that is not UTF-8. */
async function assertServer(statements: Statements): Promise<void> {
  const [row] = await statements.query<Record<'encoding' | 'function', string | null>>(
    "SELECT current_setting('server_encoding') AS encoding, to_regproc('pg_current_xact_id') AS function",
  );
  if (!row?.function) {
    const message = 'The server has no pg_current_xact_id(), which orders events. Use PostgreSQL 13 or newer.';
    throw new FlagsError('storage_unsupported', message);
  }
  const encoding = row.encoding?.replace('-', '').toUpperCase();
  if (encoding === 'UTF8') return;
  const message = `The database stores text as ${encoding}, which cannot represent every name. Use a database with the encoding UTF8.`;
  throw new FlagsError('storage_unsupported', message);
}

interface State {
  readonly hasSchema: boolean;
  /** 0: there are no tables. */
  readonly version: number;
}

/** Fails with `storage_unsupported` for tables without the mark. */
async function readState(statements: Statements, location: TableLocation): Promise<State> {
  const meta = tableNames(location).table('meta');
  const [found] = await statements.query<{ readonly has_schema: string; readonly has_meta: string }>(
    `SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1) AS has_schema, to_regclass($2) IS NOT NULL AS has_meta`,
    [location.schema, meta],
  );
  const hasSchema = found?.has_schema === 't';
  if (found?.has_meta !== 't') return { hasSchema, version: 0 };
  const rows = await statements.query<{ readonly name: string; readonly value: string }>(
    `SELECT name, value FROM ${meta}`,
  );
  const values = new Map(rows.map(({ name, value }) => [name, Number(value)]));
  if (!values.has(MARK)) throw unreleasedSchema(location);
  return { hasSchema, version: values.get('schema_version') ?? 0 };
}

function unreleasedSchema({ schema, tablePrefix }: TableLocation): FlagsError {
  return new FlagsError(
    'storage_unsupported',
    `A build before the first release made the tables ${schema}.${tablePrefix}*, and this version of the library cannot read them. ` +
      'Use another schema or tablePrefix. To keep the flags, export them with that build, and import them.',
  );
}

function olderSchema({ version, newest, schema, tablePrefix }: Versions): FlagsError {
  const command = `npx flags-postgres-sql --schema ${schema} --prefix ${tablePrefix}${version > 0 ? ` --from ${version}` : ''}`;
  const state = version > 0 ? `have schema version ${version}` : 'do not exist';
  return new FlagsError(
    'storage_unsupported',
    `The tables ${schema}.${tablePrefix}* ${state}, and this version of the library needs ${newest}. ` +
      `Run the SQL that \`${command}\` prints, or open the storage without migrate: false.`,
  );
}
