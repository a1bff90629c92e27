import { FEED_OFFSET } from '../feed/position.js';
import { lockKey, quoteIdentifier, type TableLocation, type TableNames, tableNames, toLiteral } from '../tables.js';
import { versionShardRows } from '../version-shards.js';

/**
 * The tables of the metrics, for the first migration. Text is compared by bytes, which in UTF-8 is code-point order.
 *
 * Rows that all nodes write are split into shards, which reads sum up, so that nodes seldom wait for each other. Counters
 * are ordered by second, so that expired ones are one range. An application was last seen when the latest of its instances
 * was. `metrics_writes` keeps the id of every write until it expires, so that a write sent twice counts once.
 */
export function metricsTables({ table, index }: TableNames): string {
  return `
CREATE TABLE ${table('counters')} (
  second bigint NOT NULL,
  flag text COLLATE "C" NOT NULL,
  shard smallint NOT NULL,
  yes bigint NOT NULL,
  no bigint NOT NULL,
  PRIMARY KEY (second, flag, shard)
);

CREATE TABLE ${table('last_seen')} (
  flag text COLLATE "C" NOT NULL,
  shard smallint NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (flag, shard)
) WITH (fillfactor = 70);

CREATE TABLE ${table('applications')} (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  strategies text NOT NULL,
  description text NOT NULL,
  url text NOT NULL,
  color text,
  icon text NOT NULL,
  created_at bigint NOT NULL
);

CREATE TABLE ${table('instances')} (
  application text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  client_ip text,
  sdk_version text,
  created_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  PRIMARY KEY (application, id)
) WITH (fillfactor = 70);

CREATE TABLE ${table('usage')} (
  application text COLLATE "C" NOT NULL,
  flag text COLLATE "C" NOT NULL,
  shard smallint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (application, flag, shard)
) WITH (fillfactor = 70);

CREATE INDEX ${index('usage_by_flag')} ON ${table('usage')} (flag);

CREATE TABLE ${table('metrics_writes')} (
  id uuid NOT NULL PRIMARY KEY,
  at bigint NOT NULL
);

CREATE INDEX ${index('metrics_writes_by_time')} ON ${table('metrics_writes')} (at);
`;
}

/**
 * The tables of unknown names, added by version 3. `rank` orders names by their last report: the time, then a number. The
 * names are few, so they have no shards.
 */
export function unknownNameTables({ table, index }: TableNames): string {
  return `
CREATE TABLE ${table('unknown_names')} (
  application text COLLATE "C" NOT NULL,
  flag text COLLATE "C" NOT NULL,
  rank bigint NOT NULL,
  count bigint NOT NULL,
  PRIMARY KEY (application, flag)
);

CREATE INDEX ${index('unknown_names_by_flag')} ON ${table('unknown_names')} (flag, application);
CREATE INDEX ${index('unknown_names_by_rank')} ON ${table('unknown_names')} (rank);

CREATE TABLE ${table('unknown_counters')} (
  application text COLLATE "C" NOT NULL,
  flag text COLLATE "C" NOT NULL,
  second bigint NOT NULL,
  yes bigint NOT NULL,
  no bigint NOT NULL,
  PRIMARY KEY (application, flag, second)
);

CREATE TABLE ${table('dropped_names')} (
  application text COLLATE "C" NOT NULL PRIMARY KEY,
  count bigint NOT NULL
);
`;
}

/**
 * The tables of timed usage, added by version 3. A row of `usage_now` has the sum of all counts, and the counts of the hour
 * of the latest report. A trigger moves the counts of an earlier hour, and those of a deleted row. `usage` has the counts of
 * earlier releases: reads add it.
 */
export function timedUsageTables({ table, index }: TableNames): string {
  const largest = Number.MAX_SAFE_INTEGER;
  const sum = (column: string) => `${column} = least(known.${column} + excluded.${column}, ${largest})`;
  const period = (name: string) => `
CREATE TABLE ${table(name)} (
  flag text COLLATE "C" NOT NULL,
  application text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  start bigint NOT NULL,
  shard smallint NOT NULL,
  yes bigint NOT NULL,
  no bigint NOT NULL,
  variants text,
  PRIMARY KEY (flag, application, environment, start, shard)
);

CREATE INDEX ${index(`${name}_by_start`)} ON ${table(name)} (start);
`;
  const add = (name: string, start: string) => `
  INSERT INTO ${table(name)} AS known (flag, application, environment, start, shard, yes, no, variants)
  VALUES (past.flag, past.application, past.environment, ${start}, past.shard, past.yes, past.no, past.variants)
  ON CONFLICT (flag, application, environment, start, shard) DO UPDATE SET
    ${sum('yes')}, ${sum('no')}, variants = ${table('add_variants')}(known.variants, excluded.variants);
`;
  return `
CREATE TABLE ${table('usage_now')} (
  application text COLLATE "C" NOT NULL,
  flag text COLLATE "C" NOT NULL,
  environment text COLLATE "C" NOT NULL,
  shard smallint NOT NULL,
  count bigint NOT NULL,
  hour bigint NOT NULL,
  yes bigint NOT NULL,
  no bigint NOT NULL,
  variants text,
  PRIMARY KEY (application, flag, environment, shard)
) WITH (fillfactor = 70);

CREATE INDEX ${index('usage_now_by_flag')} ON ${table('usage_now')} (flag, application, environment);
${period('usage_hours')}${period('usage_days')}
CREATE FUNCTION ${table('add_variants')}(one text, other text) RETURNS text LANGUAGE sql IMMUTABLE AS ${toLiteral(`
  SELECT CASE WHEN one IS NULL THEN other WHEN other IS NULL THEN one ELSE (
    SELECT json_agg(json_build_array(variant, least(count, ${largest})))::text FROM (
      SELECT pair ->> 0 AS variant, sum((pair ->> 1)::numeric) AS count FROM (
        SELECT json_array_elements(one::json) AS pair UNION ALL SELECT json_array_elements(other::json)
      ) AS pairs GROUP BY pair ->> 0
    ) AS sums
  ) END
`)};

CREATE FUNCTION ${table('add_usage')}(past ${table('usage_now')}) RETURNS void LANGUAGE plpgsql AS ${toLiteral(`
BEGIN${add('usage_hours', 'past.hour')}${add('usage_days', 'past.hour - past.hour % 86400000')}
END
`)};

CREATE FUNCTION ${table('move_usage')}() RETURNS trigger LANGUAGE plpgsql AS ${toLiteral(`
DECLARE
  past ${table('usage_now')}%ROWTYPE;
BEGIN
  IF TG_OP = 'DELETE' OR OLD.hour < NEW.hour THEN
    past := OLD;
  ELSE
    past := NEW;
    NEW.hour := OLD.hour;
    NEW.yes := OLD.yes;
    NEW.no := OLD.no;
    NEW.variants := OLD.variants;
  END IF;
  PERFORM ${table('add_usage')}(past);
  IF TG_OP = 'DELETE' THEN
    RETURN OLD;
  END IF;
  RETURN NEW;
END
`)};

CREATE TRIGGER ${index('usage_now_moved')} BEFORE UPDATE ON ${table('usage_now')}
  FOR EACH ROW WHEN (OLD.hour <> NEW.hour) EXECUTE FUNCTION ${table('move_usage')}();

CREATE TRIGGER ${index('usage_now_deleted')} BEFORE DELETE ON ${table('usage_now')}
  FOR EACH ROW EXECUTE FUNCTION ${table('move_usage')}();
`;
}

/** The functions that nodes call, as GRANT names them. */
export function timedUsageFunctions({ table }: TableNames): readonly string[] {
  return [`${table('add_variants')}(text, text)`, `${table('add_usage')}(${table('usage_now')})`];
}

/**
 * The tables of documents and events. Text is compared by bytes, which in UTF-8 is code-point order. JSON is stored as text,
 * because PostgreSQL's JSON types refuse U+0000 and lone surrogates.
 *
 * A deleted document keeps its row and revision; parent, summary and body are NULL. No index has a column that a usual
 * write changes, so that PostgreSQL can keep the new version of a row on the same page (HOT).
 */
function documentTables({ table, index }: TableNames): string {
  return `
CREATE TABLE ${table('documents')} (
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  parent text COLLATE "C",
  revision bigint NOT NULL,
  summary text,
  body text,
  PRIMARY KEY (kind, id)
);

CREATE INDEX ${index('documents_by_parent')} ON ${table('documents')} (kind, parent, id) WHERE parent IS NOT NULL;

CREATE TABLE ${table('events')} (
  commit_order bigint NOT NULL,
  id bigint GENERATED BY DEFAULT AS IDENTITY,
  type text COLLATE "C" NOT NULL,
  at text COLLATE "C" NOT NULL,
  actor text NOT NULL,
  subject_kind text COLLATE "C" NOT NULL,
  subject_id text COLLATE "C" NOT NULL,
  revision bigint NOT NULL,
  project text COLLATE "C",
  environment text,
  data text NOT NULL,
  before text NOT NULL,
  PRIMARY KEY (commit_order, id)
);

CREATE INDEX ${index('events_by_subject')}
  ON ${table('events')} (subject_kind, subject_id, commit_order, id);
CREATE INDEX ${index('events_by_project')} ON ${table('events')} (project, commit_order, id);
CREATE INDEX ${index('events_by_type')} ON ${table('events')} (type, commit_order, id);
CREATE INDEX ${index('events_by_time')} ON ${table('events')} (at);
`;
}

/**
 * The API token that the actor of an event used. NULL without a token, and in events of earlier releases.
 */
function actorTokenColumns({ table }: TableNames): string {
  return `
ALTER TABLE ${table('events')}
  ADD COLUMN IF NOT EXISTS actor_token_id text, ADD COLUMN IF NOT EXISTS actor_token_kind text;
`;
}

/**
 * The steps from one schema version to the next, the first from nothing to version 1. Steps are only appended. Nodes of the
 * previous version run during a step, so a step only adds: tables, columns with a default, indexes. A later release drops
 * what no supported version uses.
 */
const MIGRATIONS: readonly ((names: TableNames) => string)[] = [
  (names) => metaTable(names) + documentTables(names) + metricsTables(names),
  versionShardRows,
  (names) => actorTokenColumns(names) + unknownNameTables(names) + timedUsageTables(names),
];

/** The schema version that this library needs. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Numbers by name: the schema version, the offset of the feed and the version shards. */
function metaTable({ table }: TableNames): string {
  return `
CREATE TABLE ${table('meta')} (
  name text NOT NULL PRIMARY KEY,
  value bigint NOT NULL
);
`;
}

export interface Migration extends TableLocation {
  /** The current version; 0: there are no tables. */
  readonly from: number;
}

/** Statements that migrate the tables to the newest version. They must run in one transaction. */
export function migrationStatements({ from, ...location }: Migration): string {
  const names = tableNames(location);
  const meta = names.table('meta');
  const steps = MIGRATIONS.slice(from).map((step) => step(names));
  const beginning = `INSERT INTO ${meta} (name, value) VALUES ('schema_version', ${SCHEMA_VERSION}), ('${FEED_OFFSET}', 0);`;
  const going = `UPDATE ${meta} SET value = ${SCHEMA_VERSION} WHERE name = 'schema_version';`;
  return `${steps.join('')}\n${from === 0 ? beginning : going}\n`;
}

/** Lets one node migrate at a time. The lock ends with the transaction. */
export function takeMigrationLock(location: TableLocation): string {
  return `SELECT pg_advisory_xact_lock(${lockKey('migration', location)})`;
}

export function createSchema({ schema }: TableLocation): string {
  return `CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(schema)}`;
}
