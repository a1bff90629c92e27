import { FlagsError } from '../../errors.js';
import { preparePluck, type SqliteDatabase } from './database.js';

/**
 * The tables of the metrics, for the SQLite storage's migrations. `prefix` heads every name and must be a valid start
 * of an identifier.
 *
 * Counters are clustered by second: a report writes neighbouring rows, a window is one range, and so is what expires.
 * Text is compared by bytes, which in UTF-8 is code-point order.
 */
export function metricsTables(prefix: string): string {
  return `
    CREATE TABLE ${prefix}counters (
      second INTEGER NOT NULL,
      flag TEXT NOT NULL,
      yes INTEGER NOT NULL,
      no INTEGER NOT NULL,
      PRIMARY KEY (second, flag)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE ${prefix}last_seen (
      flag TEXT NOT NULL PRIMARY KEY,
      at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE ${prefix}applications (
      name TEXT NOT NULL PRIMARY KEY,
      strategies TEXT NOT NULL,
      description TEXT NOT NULL,
      url TEXT NOT NULL,
      color TEXT,
      icon TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      seen_at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE ${prefix}instances (
      application TEXT NOT NULL,
      id TEXT NOT NULL,
      client_ip TEXT NOT NULL,
      sdk_version TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      seen_at INTEGER NOT NULL,
      PRIMARY KEY (application, id)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE ${prefix}usage (
      application TEXT NOT NULL,
      flag TEXT NOT NULL,
      count INTEGER NOT NULL,
      PRIMARY KEY (application, flag)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX ${prefix}usage_by_flag ON ${prefix}usage (flag);
  `;
}

/**
 * What version 2 adds. When an application was last seen stands apart from its registration, which may be long: a report
 * writes the short row alone. `applications.seen_at` is no longer read.
 *
 * The seconds of an unknown name are a JSON list. `rank` tells which name was reported more recently: time and a number.
 */
export function unknownNameTables(prefix: string): string {
  return `
    CREATE TABLE ${prefix}applications_seen (
      name TEXT NOT NULL PRIMARY KEY,
      at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    INSERT INTO ${prefix}applications_seen (name, at) SELECT name, seen_at FROM ${prefix}applications;

    CREATE TABLE ${prefix}unknown_names (
      application TEXT NOT NULL,
      flag TEXT NOT NULL,
      rank INTEGER NOT NULL,
      count INTEGER NOT NULL,
      seconds TEXT NOT NULL,
      PRIMARY KEY (application, flag)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX ${prefix}unknown_names_by_flag ON ${prefix}unknown_names (flag, application);
    CREATE INDEX ${prefix}unknown_names_by_rank ON ${prefix}unknown_names (rank);

    CREATE TABLE ${prefix}dropped_names (
      application TEXT NOT NULL PRIMARY KEY,
      count INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `;
}

/**
 * The tables of documents and events. Text is compared by bytes, which in UTF-8 is code-point order.
 *
 * A summary stands before its body, so that reading it does not touch the pages that a large body overflows into.
 * A deleted document keeps its row and revision; parent, summary and body are NULL.
 * Positions of events come from AUTOINCREMENT, so that none is ever given twice; they are given inside the write
 * transaction, so that their order is that of the commits and a reader cannot overtake a writer.
 */
export function documentTables(prefix: string): string {
  return `
    CREATE TABLE ${prefix}documents (
      kind TEXT NOT NULL,
      id TEXT NOT NULL,
      parent TEXT,
      revision INTEGER NOT NULL,
      summary TEXT,
      body TEXT,
      PRIMARY KEY (kind, id)
    ) STRICT;

    CREATE INDEX ${prefix}documents_by_parent ON ${prefix}documents (kind, parent, id);

    CREATE TABLE ${prefix}events (
      position INTEGER PRIMARY KEY AUTOINCREMENT,
      type TEXT NOT NULL,
      at TEXT NOT NULL,
      actor TEXT NOT NULL,
      subject_kind TEXT NOT NULL,
      subject_id TEXT NOT NULL,
      revision INTEGER NOT NULL,
      project TEXT,
      environment TEXT,
      data TEXT NOT NULL,
      before TEXT NOT NULL
    ) STRICT;

    CREATE INDEX ${prefix}events_by_subject ON ${prefix}events (subject_kind, subject_id);
    CREATE INDEX ${prefix}events_by_project ON ${prefix}events (project);
    CREATE INDEX ${prefix}events_by_type ON ${prefix}events (type);
    CREATE INDEX ${prefix}events_by_time ON ${prefix}events (at);
  `;
}

/** Which API token the actor of an event used; NULL where there was none, and in earlier events. */
export function actorTokenColumns(prefix: string): string {
  return `
    ALTER TABLE ${prefix}events ADD COLUMN actor_token_id TEXT;
    ALTER TABLE ${prefix}events ADD COLUMN actor_token_kind TEXT;
  `;
}

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
