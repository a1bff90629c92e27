import { FlagsError } from '../../base/errors.js';
import { preparePluck, type SqliteDatabase } from './database.js';

/**
 * Tables of documents and events. SQLite compares text by bytes, which in UTF-8 is code-point order.
 *
 * - The summary precedes the body, so that reading it does not load the overflow pages of a large body.
 * - A deleted document keeps its row and revision. Parent, summary and body are NULL.
 * - AUTOINCREMENT never reuses a position. Positions are assigned inside the write transaction, so they follow the order of
 *   commits and a reader cannot skip an event.
 */
function documentTables(prefix: string): string {
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
      before TEXT NOT NULL,
      actor_token_id TEXT,
      actor_token_kind TEXT,
      change_id TEXT NOT NULL,
      reason TEXT,
      origin TEXT
    ) STRICT;

    CREATE INDEX ${prefix}events_by_subject ON ${prefix}events (subject_kind, subject_id);
    CREATE INDEX ${prefix}events_by_project ON ${prefix}events (project);
    CREATE INDEX ${prefix}events_by_type ON ${prefix}events (type);
    CREATE INDEX ${prefix}events_by_time ON ${prefix}events (at);
    CREATE INDEX ${prefix}events_by_change ON ${prefix}events (change_id);
  `;
}

/**
 * The tables of usage.
 *
 * - `recent_counts` and `counts` have one row per period; `resolution` is 1 by minute, 2 by hour, 3 by day, 4
 *   for the sum of an application. `is_public`: only public reporters counted here. `at` is the time of the latest report.
 * - The keys keep the rows of a report together, so that it writes few pages: the recent ones, which have no application, are
 *   ordered by flag, the others by application and period. No index has a column that a report changes, except for unknown names.
 * - An application was last seen when the latest of its instances was.
 * - `batches` has the ids of a day, so that a repeated batch counts once.
 */
function usageTables(prefix: string): string {
  const counts = (table: string, key: string) => `
    CREATE TABLE ${prefix}${table} (
      resolution INTEGER NOT NULL,
      flag TEXT NOT NULL,
      application TEXT NOT NULL,
      environment TEXT NOT NULL,
      start INTEGER NOT NULL,
      variant TEXT NOT NULL,
      yes INTEGER NOT NULL,
      no INTEGER NOT NULL,
      at INTEGER NOT NULL,
      is_public INTEGER NOT NULL,
      is_unknown INTEGER NOT NULL,
      PRIMARY KEY (resolution, ${key})
    ) STRICT, WITHOUT ROWID;`;
  return `
    ${counts('recent_counts', 'flag, application, environment, start, variant')}
    ${counts('counts', 'application, start, flag, environment, variant')}

    CREATE TABLE ${prefix}batches (
      id TEXT NOT NULL PRIMARY KEY,
      at INTEGER NOT NULL
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
      token TEXT,
      dropped_names INTEGER NOT NULL DEFAULT 0
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
  `;
}

function usageIndexes(prefix: string): string {
  return `
    CREATE INDEX ${prefix}recent_counts_by_start ON ${prefix}recent_counts (resolution, start);
    CREATE INDEX ${prefix}counts_by_start ON ${prefix}counts (resolution, start);
    CREATE INDEX ${prefix}counts_by_flag ON ${prefix}counts (resolution, flag, application, environment, start, variant);
    CREATE INDEX ${prefix}counts_of_public ON ${prefix}counts (resolution, start) WHERE is_public;
    CREATE INDEX ${prefix}unknown_names ON ${prefix}counts (application, is_public, at)
      WHERE resolution = 4 AND is_unknown;
    CREATE INDEX ${prefix}batches_by_time ON ${prefix}batches (at);
    CREATE INDEX ${prefix}applications_by_token ON ${prefix}applications (token) WHERE token IS NOT NULL;
    CREATE INDEX ${prefix}instances_by_time ON ${prefix}instances (application, seen_at);
  `;
}

/** A step from one schema version to the next: returns its SQL. */
type Migration = (prefix: string) => string;

/**
 * The first step creates version 1. Append a step for every change of the tables, and an empty one for every new rule that all
 * writers must keep: libraries that do not know the version refuse to write.
 */
export const MIGRATIONS: readonly Migration[] = [
  (prefix) => documentTables(prefix) + usageTables(prefix) + usageIndexes(prefix),
];

/** The schema version of this version of the library. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** The row of `meta` that every release writes. Without it, the schema version means other tables. */
const MARK = 'released';

/**
 * Migrates the tables to the newest version. Must run in a write transaction, so that only one of several processes
 * migrates a file. Throws `storage_unsupported` if a newer version of the library has migrated the tables, or if no
 * release has made them.
 *
 * @param steps default: those of this version of the library
 */
export function migrate(database: SqliteDatabase, prefix: string, steps = MIGRATIONS): void {
  database.exec(`
    CREATE TABLE IF NOT EXISTS ${prefix}meta (
      name TEXT NOT NULL PRIMARY KEY,
      value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
  `);
  const version = readVersion(database, prefix);
  if (version > steps.length) throw newerSchema(version, prefix);
  // Fails on a read-only database, where BEGIN IMMEDIATE succeeds. Changes nothing.
  database.exec(`DELETE FROM ${prefix}meta WHERE false`);
  if (version === steps.length) return;
  for (const step of steps.slice(version)) database.exec(step(prefix));
  database
    .prepare(`INSERT OR REPLACE INTO ${prefix}meta (name, value) VALUES ('schema_version', ?), ('${MARK}', 1)`)
    .run(steps.length);
}

/** Throws `storage_unsupported` if `migrate` would do anything, or throw. Changes nothing. */
export function assertMigrated(database: SqliteDatabase, prefix: string, steps = MIGRATIONS): void {
  const tables = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '${prefix}meta' COLLATE NOCASE`;
  const hasTables = preparePluck(database, tables).get() !== undefined;
  const version = hasTables ? readVersion(database, prefix) : 0;
  if (version < steps.length) throw olderSchema(version, prefix);
}

/** Returns the schema version; 0 before the first migration. Throws `storage_unsupported` without the mark. */
function readVersion(database: SqliteDatabase, prefix: string): number {
  const version = (preparePluck(database, versionQuery(prefix)).get() as number | undefined) ?? 0;
  const mark = `SELECT 1 FROM ${prefix}meta WHERE name = '${MARK}'`;
  if (version > 0 && preparePluck(database, mark).get() === undefined) throw unreleasedSchema(prefix);
  return version;
}

/** SQL: the schema version of the tables. No row before the first migration. */
export function versionQuery(prefix: string): string {
  return `SELECT value FROM ${prefix}meta WHERE name = 'schema_version'`;
}

function unreleasedSchema(prefix: string): FlagsError {
  return new FlagsError(
    'storage_unsupported',
    `A build before the first release made the tables ${prefix}*, and this version of the library cannot read them. ` +
      'Use another file or tablePrefix. To keep the flags, export them with that build, and import them.',
  );
}

export function olderSchema(version: number, prefix: string): FlagsError {
  const state = version > 0 ? `have schema version ${version}` : 'do not exist';
  return new FlagsError(
    'storage_unsupported',
    `The tables ${prefix}* ${state}, and this version of the library needs ${SCHEMA_VERSION}. ` +
      'Open the storage once without migrate: false.',
  );
}

export function newerSchema(version: number, prefix: string): FlagsError {
  return new FlagsError(
    'storage_unsupported',
    `The tables ${prefix}* have schema version ${version}, and this version of the library knows ${SCHEMA_VERSION}. ` +
      'Install the newer version of the library that made them.',
  );
}
