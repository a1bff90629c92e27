import { FlagsError } from '@flags/core';
import { assertPlace } from '../options.js';
import { quoteIdentifier, tableNames } from '../tables.js';
import {
  createSchema,
  metricsTables,
  migrationStatements,
  SCHEMA_VERSION,
  takeMigrationLock,
  unknownNameTables,
} from './migrations.js';

export interface MigrationSqlOptions {
  /** Default `public`, which is taken to be there; any other is created when it is missing. */
  readonly schema?: string;
  /** Default `flags_`. */
  readonly tablePrefix?: string;
  /** The schema version of the tables as they are. Default 0: there are none. */
  readonly from?: number;
}

/**
 * The statements that create the tables, or bring them up to date, for teams that run migrations themselves and open the
 * storage with `migrate: false`. One transaction: it happens whole, or not at all.
 *
 * Fails with `invalid_input` for impossible options.
 *
 * @example
 * await writeFile('migrations/042-flags.sql', migrationSql({ schema: 'flags' }));
 */
export function migrationSql(options: MigrationSqlOptions = {}): string {
  const { from = 0 } = options;
  const place = assertPlace(options);
  if (!Number.isSafeInteger(from) || from < 0 || from >= SCHEMA_VERSION) {
    throw new FlagsError('invalid_input', `from must be a schema version from 0 to ${SCHEMA_VERSION - 1}.`);
  }
  const isNew = from === 0 && place.schema !== 'public';
  return [
    `-- The tables of @flags/postgres, from schema version ${from} to ${SCHEMA_VERSION}.`,
    'BEGIN;',
    `${takeMigrationLock(place)};`,
    ...(isNew ? [`${createSchema(place)};`] : []),
    `${migrationStatements({ ...place, from })}COMMIT;\n`,
  ].join('\n');
}

export interface GrantSqlOptions {
  /** The role that nodes connect as. */
  readonly role: string;
  /** Default `public`. */
  readonly schema?: string;
  /** Default `flags_`. */
  readonly tablePrefix?: string;
}

/** What nodes do with each table. Events are never changed and never removed. */
const RIGHTS = {
  meta: 'SELECT, UPDATE',
  documents: 'SELECT, INSERT, UPDATE',
  events: 'SELECT, INSERT',
} as const;

/** Counters are added up and, when they are old, removed. */
const METRICS_RIGHTS = 'SELECT, INSERT, UPDATE, DELETE';

/**
 * The statements that give a role what it needs to use the tables, and nothing more. With `migrate: false` it needs no
 * right to create or change any.
 *
 * Fails with `invalid_input` for impossible options.
 *
 * @example
 * console.log(grantSql({ role: 'web', schema: 'flags' }));
 */
export function grantSql(options: GrantSqlOptions): string {
  const place = assertPlace(options);
  if (typeof options.role !== 'string' || options.role === '') {
    throw new FlagsError('invalid_input', 'role must be the name of a role.');
  }
  const role = quoteIdentifier(options.role);
  const names = tableNames(place);
  const rights = new Map<string, string>(Object.entries(RIGHTS).map(([name, right]) => [names.table(name), right]));
  const created = metricsTables(names) + unknownNameTables(names);
  for (const table of createdTables(created)) rights.set(table, METRICS_RIGHTS);
  const grants = [...rights].map(([table, right]) => `GRANT ${right} ON ${table} TO ${role};`);
  return [`GRANT USAGE ON SCHEMA ${quoteIdentifier(place.schema)} TO ${role};`, ...grants, ''].join('\n');
}

/** The quoted names of the tables that statements create. */
function createdTables(sql: string): readonly string[] {
  return Array.from(sql.matchAll(/CREATE TABLE ("(?:[^"]|"")+"\."\w+")/g), ([, table]) => table ?? '');
}
