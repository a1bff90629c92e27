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

/**
 * What version 2 adds. When an application was last seen stands apart from its registration, which may be long: a report
 * writes the short row alone. `applications.seen_at` is no longer read.
 *
 * The seconds of an unknown name are a JSON list. `rank` tells which name was reported more recently: time and a number.
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
