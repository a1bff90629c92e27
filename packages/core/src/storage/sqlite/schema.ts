/**
 * The tables of documents and events. Text is compared by bytes, which in UTF-8 is code-point order.
 *
 * A summary stands before its body, so that reading it does not touch the pages that a large body overflows into.
 * A deleted document keeps its row and revision; parent, summary and body are NULL.
 * Positions of events come from AUTOINCREMENT, so that none is ever given twice; they are given inside the write
 * transaction, so that their order is that of the commits and a reader cannot overtake a writer.
 */
export function documentTables(prefix: string): string {
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

/** Which API token the actor of an event used; NULL where there was none, and in earlier events. */
export function actorTokenColumns(prefix: string): string {
  return `
    ALTER TABLE ${prefix}events ADD COLUMN actor_token_id TEXT;
    ALTER TABLE ${prefix}events ADD COLUMN actor_token_kind TEXT;
  `;
}
