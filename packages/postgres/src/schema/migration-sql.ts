import { FlagsError } from '@flags/core';
import type { FeedKind } from '../feed/feed-order.js';
import { checkPlace } from '../options.js';
import { createSchema, migrationStatements, SCHEMA_VERSION, takeMigrationLock } from './migrations.js';

export interface MigrationSqlOptions {
  /** Default `public`, which is taken to be there; any other is created when it is missing. */
  readonly schema?: string;
  /** Default `flags_`. */
  readonly tablePrefix?: string;
  /** The schema version of the tables as they are. Default 0: there are none. */
  readonly from?: number;
  /** Default `snapshot`; `counter` for databases without PostgreSQL's transaction ids. */
  readonly feed?: FeedKind;
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
  const { from = 0, feed = 'snapshot' } = options;
  const place = checkPlace(options);
  if (!Number.isSafeInteger(from) || from < 0 || from >= SCHEMA_VERSION) {
    throw new FlagsError('invalid_input', `from must be a schema version from 0 to ${SCHEMA_VERSION - 1}.`);
  }
  const isNew = from === 0 && place.schema !== 'public';
  return [
    `-- The tables of @flags/postgres, from schema version ${from} to ${SCHEMA_VERSION}.`,
    'BEGIN;',
    // Those that need a counter do not all have the lock: there is nobody else where a team migrates by itself.
    ...(feed === 'snapshot' ? [`${takeMigrationLock(place)};`] : []),
    ...(isNew ? [`${createSchema(place)};`] : []),
    `${migrationStatements({ ...place, from, feed })}COMMIT;\n`,
  ].join('\n');
}
