import { FlagsError } from '../../errors.js';
import { preparePluck, type SqliteDatabase } from './database.js';

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
 * The tables of usage. Version 3 creates them; earlier versions have `last_seen` and `instances` too.
 *
 * - `recent_counts` and `counts` have one row per period; `resolution` is 0 by second, 1 by minute, 2 by hour, 3 by day, 4
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

    CREATE TABLE IF NOT EXISTS ${prefix}last_seen (
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
      is_public INTEGER NOT NULL DEFAULT 0,
      dropped_names INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE IF NOT EXISTS ${prefix}instances (
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

/**
 * Moves the metrics of version 1 or 2 into the tables of usage, and drops theirs.
 *
 * Version 1 has counts by second in `counters`, and the flags of applications in `usage`, which version 2 no longer reads.
 * Version 2 has the current hour of an application in `usage_now`, and the sum of its other hours in `count`. Lists of
 * variants are JSON, and so are the seconds of an unknown name. A `rank` is a time in microseconds.
 */
function moveMetrics(prefix: string, from: number): string {
  const most = Number.MAX_SAFE_INTEGER;
  const columns = '(resolution, flag, application, environment, start, variant, yes, no, at, is_public, is_unknown)';
  const insert = (resolution: number, key: string, { from, unknown = 0 }: { from: string; unknown?: 0 | 1 }) => `
    INSERT INTO ${prefix}${resolution < 2 ? 'recent_counts' : 'counts'} ${columns}
    SELECT ${resolution}, ${key}, min(total(yes), ${most}), min(total(no), ${most}), max(start), 0, ${unknown}
    FROM (${from}) WHERE true GROUP BY 2, 3, 4, 5, 6
    ON CONFLICT DO UPDATE SET
      yes = min(yes + excluded.yes, ${most}), no = min(no + excluded.no, ${most}),
      is_unknown = min(is_unknown, excluded.is_unknown);`;

  const recent = (rows: { from: string; unknown: 0 | 1 }) =>
    insert(0, "flag, application, '', start, ''", rows) +
    insert(1, "flag, application, '', start - start % 60000, ''", rows);
  const counters = `SELECT flag, '' AS application, second * 1000 AS start, yes, no FROM ${prefix}counters`;
  const names = `
    SELECT flag, application, value ->> 0 AS second, value ->> 1 AS yes, value ->> 2 AS no
    FROM ${prefix}unknown_names, json_each(seconds)`;
  const named = `SELECT flag, application, second * 1000 AS start, yes, no FROM (${names})`;

  const current = (start: string) => `
    SELECT flag, application, environment, ${start} AS start, yes, no, variants FROM ${prefix}usage_now WHERE hour > 0`;
  // A list of names and counts in turn, or of pairs.
  const variants = (rows: string) => `
    SELECT flag, application, environment, start, 0 AS no,
      iif(entry.type = 'array', entry.value ->> 0, entry.value) AS variant,
      iif(entry.type = 'array', entry.value ->> 1, variants ->> ('$[' || (entry.key + 1) || ']')) AS yes
    FROM (${rows}), json_each(variants) AS entry
    WHERE variants IS NOT NULL AND (entry.type = 'array' OR entry.key % 2 = 0)`;
  const period = (resolution: number, rows: string) =>
    insert(resolution, "flag, application, environment, start, ''", { from: rows }) +
    insert(resolution, 'flag, application, environment, start, variant', { from: variants(rows) });

  const ever = (table: string, { count, at }: { count: string; at: string }) =>
    `SELECT flag, application, ${count} AS yes, 0 AS no, ${at} AS start FROM ${prefix}${table}`;
  const pairs = (rows: { from: string; unknown?: 0 | 1 }) => insert(4, "flag, application, '', 0, ''", rows);
  const seen = (table: string, column: string) =>
    `ifnull((SELECT ${column} FROM ${prefix}${table} WHERE name = application), 0)`;
  const dropped = from === 1 ? '0' : `ifnull((SELECT count FROM ${prefix}dropped_names WHERE application = name), 0)`;

  return `
    INSERT INTO ${prefix}applications (name, strategies, description, url, color, icon, created_at, dropped_names)
    SELECT name, strategies, description, url, color, icon, created_at, ${dropped} FROM ${prefix}old_applications;
    ${recent({ from: counters, unknown: 0 })}
    ${
      from === 1
        ? pairs({ from: ever('usage', { count: 'count', at: seen('old_applications', 'seen_at') }) })
        : [
            recent({ from: named, unknown: 1 }),
            period(2, `SELECT * FROM ${prefix}usage_hours UNION ALL ${current('hour')}`),
            period(3, `SELECT * FROM ${prefix}usage_days UNION ALL ${current('hour - hour % 86400000')}`),
            pairs({ from: ever('usage_now', { count: 'count + yes + no', at: seen('applications_seen', 'at') }) }),
            pairs({ from: ever('unknown_names', { count: 'count', at: 'rank / 1000' }), unknown: 1 }),
          ].join('')
    }
    ${OLD_TABLES.map((table) => `DROP TABLE IF EXISTS ${prefix}${table};`).join(' ')}
  `;
}

const OLD_TABLES = [
  ...['counters', 'unknown_names', 'dropped_names', 'old_applications', 'applications_seen'],
  ...['usage', 'usage_now', 'usage_hours', 'usage_days', 'usage_rows'],
];

/** Replaces the tables of metrics, if there are any. */
function replaceMetrics(prefix: string, from: number): string {
  if (from === 0) return usageTables(prefix) + usageIndexes(prefix);
  const rename = `ALTER TABLE ${prefix}applications RENAME TO ${prefix}old_applications;`;
  // An index has the name of an old table.
  return rename + usageTables(prefix) + moveMetrics(prefix, from) + usageIndexes(prefix);
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

/**
 * The steps between schema versions; the first creates version 1. Append a step for every change. The tables of metrics, which
 * versions 1 and 2 also had, are left out: the third step replaces them.
 */
const MIGRATIONS: readonly ((prefix: string, from: number) => string)[] = [
  documentTables,
  (prefix) => actorTokenColumns(prefix) + changeSetColumns(prefix),
  (prefix, from) => upcastDocuments(prefix) + replaceMetrics(prefix, from),
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
  for (const step of MIGRATIONS.slice(version)) database.exec(step(prefix, version));
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
