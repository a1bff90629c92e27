-- Tables of schema version 1 without the mark of a release.
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
  before TEXT NOT NULL
) STRICT;
CREATE TABLE flags_counters (
  second INTEGER NOT NULL,
  flag TEXT NOT NULL,
  yes INTEGER NOT NULL,
  no INTEGER NOT NULL,
  PRIMARY KEY (second, flag)
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
  seen_at INTEGER NOT NULL
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
CREATE TABLE flags_usage (
  application TEXT NOT NULL,
  flag TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (application, flag)
) STRICT, WITHOUT ROWID;
CREATE INDEX flags_documents_by_parent ON flags_documents (kind, parent, id);
CREATE INDEX flags_events_by_subject ON flags_events (subject_kind, subject_id);
CREATE INDEX flags_events_by_project ON flags_events (project);
CREATE INDEX flags_events_by_type ON flags_events (type);
CREATE INDEX flags_events_by_time ON flags_events (at);
CREATE INDEX flags_usage_by_flag ON flags_usage (flag);
INSERT INTO flags_meta (name, value) VALUES ('schema_version', 1);
INSERT INTO flags_documents (kind, id, parent, revision, summary, body) VALUES ('flag', 'checkout', 'shop', 10, '{"type":"release","stale":false,"archived":false,"createdAt":"2026-01-01T00:00:15.000Z","enabledIn":["production"]}', '{"name":"checkout","project":"shop","description":"The newest checkout","type":"release","stale":false,"impressionData":true,"archived":false,"createdAt":"2026-01-01T00:00:15.000Z","variants":[{"name":"blue","weightType":"fix","weight":250,"stickiness":"userId","payload":{"type":"json","value":"{\"a\":[1]}"},"overrides":[{"contextName":"userId","values":["7"]}]},{"name":"green","weightType":"variable","weight":375,"stickiness":"default","payload":{"type":"number","value":"1.5"},"overrides":[]},{"name":"__proto__","weightType":"variable","weight":375,"stickiness":"default","payload":{"type":"csv","value":"a,b"},"overrides":[]}],"environments":[{"name":"production","enabled":true,"strategies":[{"id":"00000000-0000-4000-8000-000000000001","name":"flexibleRollout","title":"Half","disabled":false,"sortOrder":2,"constraints":[],"parameters":{"rollout":100,"stickiness":"userId","groupId":"checkout"},"variants":[{"name":"own","weightType":"variable","weight":1000,"stickiness":"default"}]},{"id":"00000000-0000-4000-8000-000000000002","name":"userWithId","constraints":[],"parameters":{"userIds":"7"}}]}]}');
INSERT INTO flags_events (position, type, at, actor, subject_kind, subject_id, revision, project, environment, data, before) VALUES (11, 'flag-created', '2026-01-01T00:00:16.000Z', 'ada', 'flag', 'checkout', 1, 'shop', NULL, '{"name":"checkout","project":"shop","description":"The new checkout","type":"release","stale":false,"impressionData":true,"archived":false,"createdAt":"2026-01-01T00:00:15.000Z","variants":[],"environments":[]}', 'null');
