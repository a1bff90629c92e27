-- Tables of schema version 3 without the mark of a release.
CREATE TABLE flags_meta (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE flags_documents (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  parent TEXT,
  revision INTEGER NOT NULL,
  summary TEXT,
  body TEXT,
  PRIMARY KEY (kind, id)
) STRICT;
CREATE INDEX flags_documents_by_parent ON flags_documents (kind, parent, id);
CREATE TABLE flags_events (
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
  before TEXT NOT NULL, actor_token_id TEXT, actor_token_kind TEXT, change_id TEXT, reason TEXT) STRICT;
CREATE INDEX flags_events_by_subject ON flags_events (subject_kind, subject_id);
CREATE INDEX flags_events_by_project ON flags_events (project);
CREATE INDEX flags_events_by_type ON flags_events (type);
CREATE INDEX flags_events_by_time ON flags_events (at);
CREATE INDEX flags_events_by_change ON flags_events (change_id) WHERE change_id IS NOT NULL;
CREATE TABLE flags_recent_counts (
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
CREATE TABLE flags_counts (
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
  PRIMARY KEY (resolution, application, start, flag, environment, variant)
) STRICT, WITHOUT ROWID;
CREATE TABLE flags_batches (
  id TEXT NOT NULL PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE flags_last_seen (
  flag TEXT NOT NULL PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE flags_applications (
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
CREATE TABLE flags_instances (
  application TEXT NOT NULL,
  id TEXT NOT NULL,
  client_ip TEXT NOT NULL,
  sdk_version TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (application, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX flags_recent_counts_by_start ON flags_recent_counts (resolution, start);
CREATE INDEX flags_counts_by_start ON flags_counts (resolution, start);
CREATE INDEX flags_counts_by_flag ON flags_counts (resolution, flag, application, environment, start, variant);
CREATE INDEX flags_counts_of_public ON flags_counts (resolution, start) WHERE is_public;
CREATE INDEX flags_unknown_names ON flags_counts (application, is_public, at)
  WHERE resolution = 4 AND is_unknown;
CREATE INDEX flags_batches_by_time ON flags_batches (at);
CREATE INDEX flags_applications_by_token ON flags_applications (token) WHERE token IS NOT NULL;
CREATE INDEX flags_instances_by_time ON flags_instances (application, seen_at);
INSERT INTO flags_meta (name, value) VALUES ('schema_version', 3);
INSERT INTO flags_documents (kind, id, parent, revision, summary, body) VALUES ('flag', 'checkout', 'default', 1, '{"type":"release","stale":false,"archived":false,"createdAt":"2026-11-24T20:56:34.993Z","enabledIn":[],"segments":[],"parents":[]}', '{"name":"checkout","project":"default","description":"","type":"release","stale":false,"impressionData":false,"archived":false,"createdAt":"2026-11-24T20:56:34.993Z","variants":[],"environments":[],"labels":[],"owner":null}');
INSERT INTO flags_events (position, type, at, actor, subject_kind, subject_id, revision, project, environment, data, before, actor_token_id, actor_token_kind, change_id, reason) VALUES (2, 'flag-created', '2026-11-24T20:56:34.993Z', 'system', 'flag', 'checkout', 1, 'default', NULL, '{"name":"checkout","project":"default","description":"","type":"release","stale":false,"impressionData":false,"archived":false,"createdAt":"2026-11-24T20:56:34.993Z","variants":[],"environments":[],"labels":[],"owner":null}', 'null', NULL, NULL, '01a20f58-9bb1-777b-8650-7e67a109492e', NULL);
