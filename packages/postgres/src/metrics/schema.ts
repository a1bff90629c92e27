import type { TableNames } from '../schema/table-names.js';

/**
 * The tables of the metrics, for the storage's first migration. Text is compared by bytes: code-point order in UTF-8.
 *
 * What every node writes of the same flag is kept in shards, one for a node as far as there are enough, and added up
 * when it is read: no node waits for another's commit. Counters are clustered by second, so what expires is one range.
 * When an application was last seen is when the latest of its instances was. A write is registered by an id of its own
 * until it expires: sent twice, it counts once.
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
 * What version 3 adds, for names that are no flag's. `rank` tells which name was reported more recently: time and a number.
 * They are few, so they are not kept in shards.
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
