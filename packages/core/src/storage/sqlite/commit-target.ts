import type { CommitTarget, PreparedWrite } from '../commit.js';
import type { DocumentKey, ListedDocument, ListQuery, StoredDocument } from '../port.js';
import { prepare, preparePluck, prepareRaw, type SqliteDatabase, statementsByText } from './database.js';
import { EVENT_COLUMNS } from './events.js';

export type SqliteDocuments = CommitTarget['documents'] & {
  /**
   * Checks and writes a document in one statement. Updates it if the revision is as expected and the parent unchanged;
   * creates it if its id was never used.
   *
   * Returns false if nothing was written. That is not yet a conflict: the caller then checks and writes separately.
   */
  putExpected(write: PreparedWrite): boolean;
  get(key: DocumentKey): StoredDocument | undefined;
  list(query: ListQuery): ListedDocument[];
};

type DocumentRow = readonly [parent: string | null, revision: number, body: string];
type ListedRow = readonly [id: string, parent: string | null, revision: number, content: string];

/** Synchronous. The caller runs the transactions. */
export function sqliteDocuments(database: SqliteDatabase, prefix: string): SqliteDocuments {
  const table = `${prefix}documents`;
  const statements = prepareStatements(database, table);
  const listStatement = statementsByText(database);

  return {
    get({ kind, id }) {
      const row = statements.get.get(kind, id) as DocumentRow | undefined;
      if (!row) return undefined;
      return { key: { kind, id }, parent: row[0], revision: row[1], body: JSON.parse(row[2]) };
    },
    list(query) {
      const { sql, parameters } = toListing(query, table);
      const rows = listStatement(sql).all(...parameters) as ListedRow[];
      return Array.from(rows, (row) => toListedDocument(query.kind, row));
    },
    revision({ kind, id }) {
      return (statements.revision.get(kind, id) as number | undefined) ?? 0;
    },
    firstIds({ kind, parent }, limit) {
      return Array.from(statements.firstIds.all(kind, parent, limit) as string[]);
    },
    putExpected({ key: { kind, id }, expected, parent, content }) {
      if (!content || content === 'unchanged') return false;
      const { summary, body } = content;
      const { changes } =
        expected === 0
          ? statements.create.run(kind, id, parent, summary, body)
          : statements.putExpected.run(summary, body, kind, id, expected, parent);
      return changes === 1;
    },
    write({ key: { kind, id }, parent, content }) {
      if (content === 'unchanged') return statements.touch.get(kind, id) as number;
      const { summary, body } = content ?? { summary: null, body: null };
      const revision = statements.rewrite.get(summary, body, kind, id, parent);
      return (revision ?? statements.write.get(kind, id, parent, summary, body)) as number;
    },
  };
}

function prepareStatements(database: SqliteDatabase, table: string) {
  const existing = `FROM ${table} WHERE kind = ? AND id = ? AND body IS NOT NULL`;
  return {
    get: prepareRaw(database, `SELECT parent, revision, body ${existing}`),
    revision: preparePluck(database, `SELECT revision ${existing}`),
    firstIds: preparePluck(database, `SELECT id FROM ${table} WHERE kind = ? AND parent = ? ORDER BY id LIMIT ?`),
    create: prepare(
      database,
      `INSERT INTO ${table} (kind, id, parent, revision, summary, body) VALUES (?, ?, ?, 1, ?, ?)
      ON CONFLICT (kind, id) DO NOTHING`,
    ),
    // Does not set the parent, so that SQLite does not write the index of parents.
    putExpected: prepare(
      database,
      `UPDATE ${table} SET revision = revision + 1, summary = ?, body = ?
      WHERE kind = ? AND id = ? AND revision = ? AND parent IS ? AND body IS NOT NULL`,
    ),
    rewrite: preparePluck(
      database,
      `UPDATE ${table} SET revision = revision + 1, summary = ?, body = ? WHERE kind = ? AND id = ? AND parent IS ?
      RETURNING revision`,
    ),
    touch: preparePluck(
      database,
      `UPDATE ${table} SET revision = revision + 1 WHERE kind = ? AND id = ? RETURNING revision`,
    ),
    write: preparePluck(
      database,
      `INSERT INTO ${table} (kind, id, parent, revision, summary, body) VALUES (?, ?, ?, 1, ?, ?)
      ON CONFLICT (kind, id) DO UPDATE SET
        parent = excluded.parent, revision = revision + 1, summary = excluded.summary, body = excluded.body
      RETURNING revision`,
    ),
  };
}

/** Deleted documents have neither body nor parent, so every document with a parent exists. */
function toListing({ kind, parent, part, after, limit }: ListQuery, table: string) {
  const under = parent === undefined ? 'body IS NOT NULL' : 'parent = ?';
  const from = after === undefined ? '' : ' AND id > ?';
  const end = limit === undefined ? '' : ' LIMIT ?';
  return {
    sql: `SELECT id, parent, revision, ${part} AS content FROM ${table} WHERE kind = ? AND ${under}${from} ORDER BY id${end}`,
    parameters: [kind, parent, after, limit].filter((parameter) => parameter !== undefined),
  };
}

function toListedDocument(kind: string, [id, parent, revision, content]: ListedRow): ListedDocument {
  return { key: { kind, id }, parent, revision, content: JSON.parse(content) };
}

/** Returns the part of a commit's target that appends events. Synchronous. The caller runs the transactions. */
export function eventAppender(database: SqliteDatabase, prefix: string): CommitTarget['events'] {
  const insert = prepare(
    database,
    `INSERT INTO ${prefix}events (${EVENT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return {
    append(events, revisions) {
      for (const event of events) {
        const { type, at, actor, subject, project, environment, changeSet, reason, data, before, write } = event;
        const { actorTokenId, actorTokenKind } = event;
        // Named one by one: a call that spreads lists takes longer than the insertion.
        insert.run(
          type,
          at,
          actor,
          subject.kind,
          subject.id,
          revisions[write],
          project,
          environment,
          actorTokenId,
          actorTokenKind,
          changeSet,
          reason,
          data,
          before,
        );
      }
    },
  };
}
