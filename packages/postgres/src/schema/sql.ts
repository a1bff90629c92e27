import { FlagsError } from '@flags/core';
import { assertLocation } from '../options.js';
import { quoteIdentifier, tableNames } from '../tables.js';
import { createSchema, migrationStatements, SCHEMA_VERSION, takeMigrationLocks } from './migrations.js';
import { usageTables } from './usage-tables.js';

/** Options of `migrationSql`. */
export interface MigrationSqlOptions {
  /** Default `public`, which must exist. Any other is created if it is missing. */
  readonly schema?: string;
  /** Default `flags_`. */
  readonly tablePrefix?: string;
  /** The current schema version of the tables. Default 0: there are none. */
  readonly from?: number;
}

/**
 * Returns the SQL that creates or migrates the tables, as one transaction. For teams that run migrations themselves and open
 * the storage with `migrate: false`.
 *
 * Fails with `invalid_input` for invalid options.
 *
 * @example
 * await writeFile('migrations/042-flags.sql', migrationSql({ schema: 'flags' }));
 */
export function migrationSql(options: MigrationSqlOptions = {}): string {
  const { from = 0 } = options;
  const location = assertLocation(options);
  if (!Number.isSafeInteger(from) || from < 0 || from >= SCHEMA_VERSION) {
    throw new FlagsError('invalid_input', `from must be a schema version below ${SCHEMA_VERSION}.`);
  }
  const isNew = from === 0 && location.schema !== 'public';
  return [
    `-- The tables of @flags/postgres, from schema version ${from} to ${SCHEMA_VERSION}.`,
    'BEGIN;',
    `${takeMigrationLocks(location)};`,
    ...(isNew ? [`${createSchema(location)};`] : []),
    `${migrationStatements({ ...location, from })}COMMIT;\n`,
  ].join('\n');
}

/** Options of `grantSql`. */
export interface GrantSqlOptions {
  /** The role that nodes connect as. */
  readonly role: string;
  /** Default `public`. */
  readonly schema?: string;
  /** Default `flags_`. */
  readonly tablePrefix?: string;
}

/** The rights that nodes need. Events are never changed or deleted. */
const RIGHTS = {
  meta: 'SELECT, UPDATE',
  documents: 'SELECT, INSERT, UPDATE',
  events: 'SELECT, INSERT',
} as const;

/** Counts are incremented, and deleted when they expire. */
const USAGE_RIGHTS = 'SELECT, INSERT, UPDATE, DELETE';

/**
 * Returns the SQL that grants a role the minimal rights to use the tables. They suffice with `migrate: false`.
 *
 * Fails with `invalid_input` for invalid options.
 *
 * @example
 * console.log(grantSql({ role: 'web', schema: 'flags' }));
 */
export function grantSql(options: GrantSqlOptions): string {
  const location = assertLocation(options);
  if (typeof options.role !== 'string' || options.role === '') {
    throw new FlagsError('invalid_input', 'role must be the name of a role.');
  }
  const role = quoteIdentifier(options.role);
  const names = tableNames(location);
  const rights = new Map<string, string>(Object.entries(RIGHTS).map(([name, right]) => [names.table(name), right]));
  for (const table of createdTables(usageTables(names))) rights.set(table, USAGE_RIGHTS);
  const grants = [...rights].map(([table, right]) => `GRANT ${right} ON ${table} TO ${role};`);
  return [`GRANT USAGE ON SCHEMA ${quoteIdentifier(location.schema)} TO ${role};`, ...grants, ''].join('\n');
}

/** The quoted names of the tables that statements create. */
function createdTables(sql: string): readonly string[] {
  return Array.from(sql.matchAll(/CREATE TABLE ("(?:[^"]|"")+"\."\w+")/g), ([, table]) => table ?? '');
}
