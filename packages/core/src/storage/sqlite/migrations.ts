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
function unknownNameTables(prefix: string): string {
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
function timedUsageTables(prefix: string): string {
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
 * The tables of usage, which replace those of metrics.
 *
 * - `counts` has one row per period; `resolution` is 0 by second, 1 by minute, 2 by hour, 3 by day, 4 for the sum of an
 *   application. `is_public`: only public reporters counted here. `at` is the time of the latest report.
 * - An application was last seen when the latest of its instances was.
 * - `batches` has the ids of a day, so that a repeated batch counts once.
 */
function usageTables(prefix: string): string {
  return `
    CREATE TABLE ${prefix}counts (
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
      PRIMARY KEY (resolution, flag, application, environment, start, variant)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE ${prefix}batches (
      id TEXT NOT NULL PRIMARY KEY,
      at INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    ALTER TABLE ${prefix}applications ADD COLUMN token TEXT;
    ALTER TABLE ${prefix}applications ADD COLUMN is_public INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE ${prefix}applications ADD COLUMN dropped_names INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE ${prefix}applications DROP COLUMN seen_at;
    ${moveMetrics(prefix)}
    CREATE INDEX ${prefix}counts_by_start ON ${prefix}counts (resolution, start);
    CREATE INDEX ${prefix}counts_by_application ON ${prefix}counts (resolution, application, start, flag, is_unknown)
      WHERE application <> '';
    CREATE INDEX ${prefix}counts_of_public ON ${prefix}counts (resolution, start) WHERE is_public;
    CREATE INDEX ${prefix}unknown_names ON ${prefix}counts (application, is_public, at)
      WHERE resolution = 4 AND is_unknown;
    CREATE INDEX ${prefix}batches_by_time ON ${prefix}batches (at);
    CREATE INDEX ${prefix}applications_by_token ON ${prefix}applications (token) WHERE token IS NOT NULL;
    CREATE INDEX ${prefix}instances_by_time ON ${prefix}instances (application, seen_at);
  `;
}

const OLD_TABLES = [
  ...['counters', 'unknown_names', 'dropped_names', 'applications_seen'],
  ...['usage', 'usage_now', 'usage_hours', 'usage_days', 'usage_rows'],
];

/** Moves the rows of metrics, and drops their tables. */
function moveMetrics(prefix: string): string {
  const most = Number.MAX_SAFE_INTEGER;
  const columns = '(resolution, flag, application, environment, start, variant, yes, no, at, is_public, is_unknown)';
  const insert = (resolution: number, key: string, { from, unknown = 0 }: { from: string; unknown?: 0 | 1 }) => `
    INSERT INTO ${prefix}counts ${columns}
    SELECT ${resolution}, ${key}, min(total(yes), ${most}), min(total(no), ${most}), max(start), 0, ${unknown}
    FROM (${from}) WHERE true GROUP BY 2, 3, 4, 5, 6
    ON CONFLICT DO UPDATE SET
      yes = min(yes + excluded.yes, ${most}), no = min(no + excluded.no, ${most}),
      is_unknown = min(is_unknown, excluded.is_unknown);`;

  const counters = `SELECT flag, '' AS application, second * 1000 AS start, yes, no FROM ${prefix}counters`;
  const names = `
    SELECT flag, application, value ->> 0 AS second, value ->> 1 AS yes, value ->> 2 AS no
    FROM ${prefix}unknown_names, json_each(seconds)`;
  const named = `SELECT flag, application, second * 1000 AS start, yes, no FROM (${names})`;
  const recent = [
    { from: counters, unknown: 0 },
    { from: named, unknown: 1 },
  ] as const;

  const current = (start: string) => `
    SELECT flag, application, environment, ${start} AS start, yes, no, variants FROM ${prefix}usage_now WHERE hour > 0`;
  const periods = [
    { resolution: 2, rows: `SELECT * FROM ${prefix}usage_hours UNION ALL ${current('hour')}` },
    { resolution: 3, rows: `SELECT * FROM ${prefix}usage_days UNION ALL ${current('hour - hour % 86400000')}` },
  ];
  // A list of names and counts in turn, or of pairs.
  const variants = (rows: string) => `
    SELECT flag, application, environment, start, 0 AS no,
      iif(entry.type = 'array', entry.value ->> 0, entry.value) AS variant,
      iif(entry.type = 'array', entry.value ->> 1, variants ->> ('$[' || (entry.key + 1) || ']')) AS yes
    FROM (${rows}), json_each(variants) AS entry
    WHERE variants IS NOT NULL AND (entry.type = 'array' OR entry.key % 2 = 0)`;

  const ever = (table: string, { count, at }: { count: string; at: string }) =>
    `SELECT flag, application, ${count} AS yes, 0 AS no, ${at} AS start FROM ${prefix}${table}`;
  const pairs = ever('usage_now', {
    count: 'count + yes + no',
    at: `ifnull((SELECT at FROM ${prefix}applications_seen WHERE name = application), 0)`,
  });
  const unknown = ever('unknown_names', { count: 'count', at: 'rank / 1000' });

  return `
    UPDATE ${prefix}applications SET
      dropped_names = ifnull((SELECT count FROM ${prefix}dropped_names WHERE application = name), 0);
    ${recent.map((rows) => insert(0, "flag, application, '', start, ''", rows)).join('')}
    ${recent.map((rows) => insert(1, "flag, application, '', start - start % 60000, ''", rows)).join('')}
    ${periods.map(({ resolution, rows }) => insert(resolution, "flag, application, environment, start, ''", { from: rows })).join('')}
    ${periods.map(({ resolution, rows }) => insert(resolution, 'flag, application, environment, start, variant', { from: variants(rows) })).join('')}
    ${insert(4, "flag, application, '', 0, ''", { from: pairs })}
    ${insert(4, "flag, application, '', 0, ''", { from: unknown, unknown: 1 })}
    ${OLD_TABLES.map((table) => `DROP TABLE ${prefix}${table};`).join(' ')}
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

/** The steps between schema versions; the first creates version 1. Never change a released step; append a new one. */
export const MIGRATIONS: readonly ((prefix: string) => string)[] = [
  (prefix) => documentTables(prefix) + metricsTables(prefix),
  (prefix) =>
    actorTokenColumns(prefix) + changeSetColumns(prefix) + unknownNameTables(prefix) + timedUsageTables(prefix),
  (prefix) => upcastDocuments(prefix) + usageTables(prefix),
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
