import { FlagsError } from '../../errors.js';
import { metricsTables, unknownNameTables } from '../../metrics/sqlite-schema.js';
import { preparePluck, type SqliteDatabase } from './database.js';
import { actorTokenColumns, documentTables } from './schema.js';

/** Every step from one schema version to the next, the first from an empty database to version 1. Only ever appended to. */
const MIGRATIONS: readonly ((prefix: string) => string)[] = [
  (prefix) => documentTables(prefix) + metricsTables(prefix),
  (prefix) => actorTokenColumns(prefix) + unknownNameTables(prefix),
];

/**
 * Brings the tables to the version that this library knows. Has to run in a write transaction: of several processes that
 * open a new file at the same moment one creates the tables, and the others find them.
 *
 * Fails with `storage_unsupported` when a newer library has been here.
 */
export function migrate(database: SqliteDatabase, prefix: string): void {
  const version = readVersion(database, prefix);
  if (version > MIGRATIONS.length) throw newerSchema(version, prefix);
  // Writes nothing, and yet fails where nothing can be written: BEGIN IMMEDIATE succeeds on a read-only database.
  database.exec(`DELETE FROM ${prefix}meta WHERE false`);
  if (version === MIGRATIONS.length) return;
  for (const step of MIGRATIONS.slice(version)) database.exec(step(prefix));
  database
    .prepare(`INSERT OR REPLACE INTO ${prefix}meta (name, value) VALUES ('schema_version', ?)`)
    .run(MIGRATIONS.length);
}

/**
 * Gives a check that no newer version of the library has changed the tables since: the statements of this one may not fit
 * them any more. Fails with `storage_unsupported`.
 */
export function createVersionCheck(database: SqliteDatabase, prefix: string): () => void {
  const find = preparePluck(database, versionQuery(prefix));
  return () => {
    const version = (find.get() as number | undefined) ?? 0;
    if (version > MIGRATIONS.length) throw newerSchema(version, prefix);
  };
}

function readVersion(database: SqliteDatabase, prefix: string): number {
  database.exec(`
    CREATE TABLE IF NOT EXISTS ${prefix}meta (
      name TEXT NOT NULL PRIMARY KEY,
      value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
  `);
  return (preparePluck(database, versionQuery(prefix)).get() as number | undefined) ?? 0;
}

function versionQuery(prefix: string): string {
  return `SELECT value FROM ${prefix}meta WHERE name = 'schema_version'`;
}

function newerSchema(version: number, prefix: string): FlagsError {
  return new FlagsError(
    'storage_unsupported',
    `The tables ${prefix}* have schema version ${version}, and this version of the library knows ${MIGRATIONS.length}. ` +
      'Install the newer version of the library that made them.',
  );
}
