import type { CommitTarget } from '../apply-commit.js';
import type { DocumentKey, ListedDocument, ListQuery, StoredDocument } from '../port.js';
import { prepare, type SqliteDatabase } from './database.js';
import { statementsByText } from './statements.js';

export type SqliteDocuments = CommitTarget['documents'] & {
  get(key: DocumentKey): StoredDocument | undefined;
  list(query: ListQuery): ListedDocument[];
};

interface DocumentRow {
  readonly parent: string | null;
  readonly revision: number;
  readonly body: string;
}

interface ListedRow {
  readonly id: string;
  readonly parent: string | null;
  readonly revision: number;
  readonly content: string;
}

/** Synchronous; the caller sees to transactions. */
export function sqliteDocuments(database: SqliteDatabase, prefix: string): SqliteDocuments {
  const table = `${prefix}documents`;
  const statements = prepareStatements(database, table);
  const listStatement = statementsByText(database);

  return {
    get({ kind, id }) {
      const row = statements.get.get(kind, id) as DocumentRow | undefined;
      if (!row) return undefined;
      return { key: { kind, id }, parent: row.parent, revision: row.revision, body: JSON.parse(row.body) };
    },
    list(query) {
      const { sql, parameters } = toListing(query, table);
      const rows = listStatement(sql).all(...parameters) as ListedRow[];
      return Array.from(rows, (row) => toListedDocument(query.kind, row));
    },
    revision({ kind, id }) {
      const row = statements.revision.get(kind, id) as Pick<DocumentRow, 'revision'> | undefined;
      return row?.revision ?? 0;
    },
    firstIds({ kind, parent }, limit) {
      const rows = statements.firstIds.all(kind, parent, limit) as Pick<ListedRow, 'id'>[];
      return Array.from(rows, ({ id }) => id);
    },
    write({ key: { kind, id }, parent, content }) {
      const row = statements.write.get(kind, id, parent, content?.summary ?? null, content?.body ?? null);
      return (row as Pick<DocumentRow, 'revision'>).revision;
    },
  };
}

function prepareStatements(database: SqliteDatabase, table: string) {
  const existing = `FROM ${table} WHERE kind = ? AND id = ? AND body IS NOT NULL`;
  return {
    get: prepare(database, `SELECT parent, revision, body ${existing}`),
    revision: prepare(database, `SELECT revision ${existing}`),
    firstIds: prepare(database, `SELECT id FROM ${table} WHERE kind = ? AND parent = ? ORDER BY id LIMIT ?`),
    write: prepare(
      database,
      `INSERT INTO ${table} (kind, id, parent, revision, summary, body) VALUES (?, ?, ?, 1, ?, ?)
      ON CONFLICT (kind, id) DO UPDATE SET
        parent = excluded.parent, revision = revision + 1, summary = excluded.summary, body = excluded.body
      RETURNING revision`,
    ),
  };
}

/** Deleted documents have neither body nor parent, so those under a parent all exist. */
function toListing({ kind, parent, part, after, limit }: ListQuery, table: string) {
  const under = parent === undefined ? 'body IS NOT NULL' : 'parent = ?';
  const from = after === undefined ? '' : ' AND id > ?';
  const end = limit === undefined ? '' : ' LIMIT ?';
  return {
    sql: `SELECT id, parent, revision, ${part} AS content FROM ${table} WHERE kind = ? AND ${under}${from} ORDER BY id${end}`,
    parameters: [kind, parent, after, limit].filter((parameter) => parameter !== undefined),
  };
}

function toListedDocument(kind: string, { id, parent, revision, content }: ListedRow): ListedDocument {
  return { key: { kind, id }, parent, revision, content: JSON.parse(content) };
}
