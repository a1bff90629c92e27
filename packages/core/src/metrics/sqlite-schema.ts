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
