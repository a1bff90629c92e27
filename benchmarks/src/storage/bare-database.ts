import Database, { type Statement } from 'better-sqlite3';

export interface Row {
  readonly kind: string;
  readonly id: string;
  readonly parent: string | null;
  readonly summary: object;
  readonly body: object;
}

export interface Happening {
  readonly type: string;
  readonly subject: Row;
  readonly project: string;
  readonly environment: string | null;
  readonly data: unknown;
  readonly before: unknown;
}

/** The driver alone on the tables of a storage: what a program would do that is written for these operations by hand. */
export function openBareDatabase(path: string) {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  const begin = database.prepare('BEGIN IMMEDIATE');
  const commit = database.prepare('COMMIT');
  const find = database.prepare(
    'SELECT parent, revision, body FROM flags_documents WHERE kind = ? AND id = ? AND body IS NOT NULL',
  );
  const insert = database.prepare(
    'INSERT INTO flags_documents (kind, id, parent, revision, summary, body) VALUES (?, ?, ?, 1, ?, ?)',
  );
  const update = database.prepare(
    'UPDATE flags_documents SET revision = ?, summary = ?, body = ? WHERE kind = ? AND id = ?',
  );
  const happened = database.prepare(
    `INSERT INTO flags_events
      (type, at, actor, subject_kind, subject_id, revision, project, environment, data, before)
    VALUES (?, ?, 'system', ?, ?, ?, ?, ?, ?, ?)`,
  );

  return {
    prepare: (sql: string): Statement => database.prepare(sql),
    close: () => void database.close(),
    /** What is written is durable when it returns. */
    transaction<T>(work: () => T): T {
      begin.run();
      const value = work();
      commit.run();
      return value;
    },
    find<Body>(kind: string, id: string): { readonly revision: number; readonly body: Body } | undefined {
      const row = find.get(kind, id) as { revision: number; body: string } | undefined;
      return row && { revision: row.revision, body: JSON.parse(row.body) };
    },
    insert({ kind, id, parent, summary, body }: Row): void {
      insert.run(kind, id, parent, JSON.stringify(summary), JSON.stringify(body));
    },
    update({ kind, id, summary, body }: Row, revision: number): void {
      update.run(revision, JSON.stringify(summary), JSON.stringify(body), kind, id);
    },
    append({ type, subject, project, environment, data, before }: Happening, revision: number): void {
      const at = new Date().toISOString();
      const texts = [JSON.stringify(data), JSON.stringify(before)];
      happened.run(type, at, subject.kind, subject.id, revision, project, environment, ...texts);
    },
  };
}
