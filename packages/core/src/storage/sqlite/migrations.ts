import { FlagsError } from '../../errors.js';
import { preparePluck, type SqliteDatabase } from './database.js';

/**
 * Tables of the metrics in version 1.
 *
 * Counters are clustered by second, so that a report, a window and an expired period are each a range of rows. SQLite
 * compares text by bytes, which in UTF-8 is code-point order.
 *
 * @param prefix prefix of every name; must begin a valid identifier
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
 * Tables of the metrics that version 2 adds.
 *
 * The last-seen time of an application has its own table, so that a report writes a short row, not the registration.
 * `applications.seen_at` is no longer read. The seconds of an unknown name are a JSON list. `rank` orders names by the
 * time of their last report.
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
 * Tables of timed usage that version 2 adds.
 *
 * `usage_now` replaces `usage`, which is no longer read. It has the counts of the hour that the latest report was in, and
 * in `count` the sum of the other hours. The counts of earlier releases have no hour. `usage_rows` counts the rows of the other two tables.
 */
export function timedUsageTables(prefix: string): string {
  const period = (table: string) => `
    CREATE TABLE ${prefix}${table} (
      flag TEXT NOT NULL,
      application TEXT NOT NULL,
      environment TEXT NOT NULL,
      start INTEGER NOT NULL,
      yes INTEGER NOT NULL,
      no INTEGER NOT NULL,
      variants TEXT,
      PRIMARY KEY (flag, application, environment, start)
    ) STRICT, WITHOUT ROWID;

    CREATE INDEX ${prefix}${table}_by_start ON ${prefix}${table} (start);
  `;
  return `
    CREATE TABLE ${prefix}usage_now (
      application TEXT NOT NULL,
      flag TEXT NOT NULL,
      environment TEXT NOT NULL,
      count INTEGER NOT NULL,
      hour INTEGER NOT NULL,
      yes INTEGER NOT NULL,
      no INTEGER NOT NULL,
      variants TEXT,
      PRIMARY KEY (application, flag, environment)
    ) STRICT, WITHOUT ROWID;

    INSERT INTO ${prefix}usage_now (application, flag, environment, count, hour, yes, no)
      SELECT application, flag, '', count, 0, 0, 0 FROM ${prefix}usage;

    CREATE INDEX ${prefix}usage_now_by_flag ON ${prefix}usage_now (flag, application, environment);
    ${period('usage_hours')}
    ${period('usage_days')}
    CREATE TABLE ${prefix}usage_rows (
      name TEXT NOT NULL PRIMARY KEY,
      count INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
  `;
}

/**
 * Tables of documents and events in version 1. SQLite compares text by bytes, which in UTF-8 is code-point order.
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
      before TEXT NOT NULL
    ) STRICT;

    CREATE INDEX ${prefix}events_by_subject ON ${prefix}events (subject_kind, subject_id);
    CREATE INDEX ${prefix}events_by_project ON ${prefix}events (project);
    CREATE INDEX ${prefix}events_by_type ON ${prefix}events (type);
    CREATE INDEX ${prefix}events_by_time ON ${prefix}events (at);
  `;
}

/** The API token that the actor of an event used; NULL without a token, and in events of version 1. */
function actorTokenColumns(prefix: string): string {
  return `
    ALTER TABLE ${prefix}events ADD COLUMN actor_token_id TEXT;
    ALTER TABLE ${prefix}events ADD COLUMN actor_token_kind TEXT;
  `;
}

/**
 * The change set of an event and its reason; NULL in events of version 1. Adding columns rewrites no row, and the index
 * stays empty: a large log migrates fast.
 */
function changeSetColumns(prefix: string): string {
  return `
    ALTER TABLE ${prefix}events ADD COLUMN change_id TEXT;
    ALTER TABLE ${prefix}events ADD COLUMN reason TEXT;

    CREATE INDEX ${prefix}events_by_change ON ${prefix}events (change_id) WHERE change_id IS NOT NULL;
  `;
}

/**
 * To which API token an application belongs, and whether only public reporters have named it. NULL without a token, and for
 * applications of earlier versions.
 */
export function reporterColumns(prefix: string): string {
  return `
    ALTER TABLE ${prefix}applications_seen ADD COLUMN token TEXT;
    ALTER TABLE ${prefix}applications_seen ADD COLUMN is_public INTEGER NOT NULL DEFAULT 0;

    CREATE INDEX ${prefix}applications_seen_by_token ON ${prefix}applications_seen (token) WHERE token IS NOT NULL;
  `;
}

/**
 * Brings flags of release 0.1 and checkpoints of 0.2 into their present form. Flags get labels and an owner.
 * Checkpoints get a parent, and an id that counts down.
 */
function upcastDocuments(prefix: string): string {
  const documents = `${prefix}documents`;
  const subject = "rtrim(rtrim(id, '0123456789'))";
  return `
    UPDATE ${documents} SET body = '{"labels":[],"owner":null,' || substr(body, 2)
      WHERE (kind = 'flag' OR kind = 'checkpoint' AND id LIKE 'flag %')
        AND body IS NOT NULL AND json_type(body, '$.labels') IS NULL;

    UPDATE ${documents} SET
      parent = ${subject},
      id = ${subject} || printf(' %016d', ${Number.MAX_SAFE_INTEGER} - CAST(substr(id, length(${subject}) + 2) AS INTEGER))
      WHERE kind = 'checkpoint' AND body IS NOT NULL AND parent IS NULL;
  `;
}

/** The steps between schema versions; the first creates version 1. Never change a released step: append a new one. */
const MIGRATIONS: readonly ((prefix: string) => string)[] = [
  (prefix) => documentTables(prefix) + metricsTables(prefix),
  (prefix) =>
    actorTokenColumns(prefix) + changeSetColumns(prefix) + unknownNameTables(prefix) + timedUsageTables(prefix),
  (prefix) => reporterColumns(prefix) + upcastDocuments(prefix),
];

/** The schema version of this version of the library. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Migrates the tables to the newest version. Must run in a write transaction, so that only one of several processes
 * migrates a file. Throws `storage_unsupported` if a newer version of the library has migrated the tables.
 */
export function migrate(database: SqliteDatabase, prefix: string): void {
  const version = readVersion(database, prefix);
  if (version > SCHEMA_VERSION) throw newerSchema(version, prefix);
  // Fails on a read-only database, where BEGIN IMMEDIATE succeeds. Changes nothing.
  database.exec(`DELETE FROM ${prefix}meta WHERE false`);
  if (version === SCHEMA_VERSION) return;
  for (const step of MIGRATIONS.slice(version)) database.exec(step(prefix));
  database
    .prepare(`INSERT OR REPLACE INTO ${prefix}meta (name, value) VALUES ('schema_version', ?)`)
    .run(SCHEMA_VERSION);
}

/** Throws `storage_unsupported` if a migration is due. Changes nothing. */
export function assertMigrated(database: SqliteDatabase, prefix: string): void {
  const tables = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '${prefix}meta' COLLATE NOCASE`;
  const hasTables = preparePluck(database, tables).get() !== undefined;
  const version = hasTables ? findVersion(database, prefix) : 0;
  if (version < SCHEMA_VERSION) throw olderSchema(version, prefix);
}

function readVersion(database: SqliteDatabase, prefix: string): number {
  database.exec(`
    CREATE TABLE IF NOT EXISTS ${prefix}meta (
      name TEXT NOT NULL PRIMARY KEY,
      value INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID
  `);
  return findVersion(database, prefix);
}

function findVersion(database: SqliteDatabase, prefix: string): number {
  return (preparePluck(database, versionQuery(prefix)).get() as number | undefined) ?? 0;
}

/** SQL: the schema version of the tables. No row before the first migration. */
export function versionQuery(prefix: string): string {
  return `SELECT value FROM ${prefix}meta WHERE name = 'schema_version'`;
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
