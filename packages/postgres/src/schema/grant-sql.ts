import { FlagsError } from '@flags/core';
import { metricsTables, unknownNameTables } from '../metrics/schema.js';
import { checkPlace } from '../options.js';
import { quoteIdentifier, tableNames } from './table-names.js';

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
  const place = checkPlace(options);
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
