CREATE TABLE flags_counters (
  second bigint NOT NULL, flag text COLLATE "C" NOT NULL, shard smallint NOT NULL, yes bigint NOT NULL, no bigint NOT NULL,
  PRIMARY KEY (second, flag, shard)
);
CREATE TABLE flags_last_seen (
  flag text COLLATE "C" NOT NULL, shard smallint NOT NULL, at bigint NOT NULL, PRIMARY KEY (flag, shard)
);
CREATE TABLE flags_applications (
  name text COLLATE "C" NOT NULL PRIMARY KEY, strategies text NOT NULL, description text NOT NULL, url text NOT NULL,
  color text, icon text NOT NULL, created_at bigint NOT NULL
);
CREATE TABLE flags_instances (
  application text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL, client_ip text, sdk_version text,
  created_at bigint NOT NULL, seen_at bigint NOT NULL, PRIMARY KEY (application, id)
);
CREATE TABLE flags_usage (
  application text COLLATE "C" NOT NULL, flag text COLLATE "C" NOT NULL, shard smallint NOT NULL, count bigint NOT NULL,
  PRIMARY KEY (application, flag, shard)
);
CREATE INDEX flags_usage_by_flag ON flags_usage (flag);
CREATE TABLE flags_metrics_writes (id uuid NOT NULL PRIMARY KEY, at bigint NOT NULL);
-- version 3
CREATE TABLE flags_unknown_names (
  application text COLLATE "C" NOT NULL, flag text COLLATE "C" NOT NULL, rank bigint NOT NULL, count bigint NOT NULL,
  PRIMARY KEY (application, flag)
);
CREATE TABLE flags_unknown_counters (
  application text COLLATE "C" NOT NULL, flag text COLLATE "C" NOT NULL, second bigint NOT NULL, yes bigint NOT NULL,
  no bigint NOT NULL, PRIMARY KEY (application, flag, second)
);
CREATE TABLE flags_dropped_names (application text COLLATE "C" NOT NULL PRIMARY KEY, count bigint NOT NULL);
CREATE TABLE flags_usage_hours (
  flag text COLLATE "C" NOT NULL, application text COLLATE "C" NOT NULL, environment text COLLATE "C" NOT NULL,
  start bigint NOT NULL, shard smallint NOT NULL, yes bigint NOT NULL, no bigint NOT NULL, variants text,
  PRIMARY KEY (flag, application, environment, start, shard)
);
CREATE TABLE flags_usage_days (
  flag text COLLATE "C" NOT NULL, application text COLLATE "C" NOT NULL, environment text COLLATE "C" NOT NULL,
  start bigint NOT NULL, shard smallint NOT NULL, yes bigint NOT NULL, no bigint NOT NULL, variants text,
  PRIMARY KEY (flag, application, environment, start, shard)
);
CREATE TABLE flags_usage_current (
  application text COLLATE "C" NOT NULL, flag text COLLATE "C" NOT NULL, environment text COLLATE "C" NOT NULL,
  start bigint NOT NULL, shard smallint NOT NULL, yes bigint NOT NULL, no bigint NOT NULL, variants text,
  PRIMARY KEY (application, flag, environment, start, shard)
);
CREATE FUNCTION flags_add_variants(one text, other text) RETURNS text LANGUAGE sql AS 'SELECT one';
ALTER TABLE flags_applications
  ADD COLUMN token text COLLATE "C", ADD COLUMN is_public boolean NOT NULL DEFAULT false;
