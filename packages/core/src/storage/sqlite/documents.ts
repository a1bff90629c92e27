import type { CommitTarget } from '../apply-commit.js';
import type { DocumentKey, ListedDocument, ListQuery, StoredDocument } from '../port.js';
import { prepare, type SqliteDatabase } from './database.js';

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
  const statements = prepareStatements(database, `${prefix}documents`);

  return {
    get({ kind, id }) {
      const row = statements.get.get(kind, id) as DocumentRow | undefined;
      if (!row) return undefined;
      return { key: { kind, id }, parent: row.parent, revision: row.revision, body: JSON.parse(row.body) };
    },
    list(query) {
      const { kind, parent, part } = query;
      const rows =
        parent === undefined ? statements.list[part].all(kind) : statements.listUnder[part].all(kind, parent);
      return Array.from(rows as ListedRow[], (row) => toListedDocument(kind, row));
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

/** Deleted documents have neither body nor parent, so those under a parent all exist. */
function prepareStatements(database: SqliteDatabase, table: string) {
  const existing = `FROM ${table} WHERE kind = ? AND id = ? AND body IS NOT NULL`;
  const listing = (part: ListQuery['part']) => `SELECT id, parent, revision, ${part} AS content FROM ${table}`;
  const list = (part: ListQuery['part']) =>
    prepare(database, `${listing(part)} WHERE kind = ? AND body IS NOT NULL ORDER BY id`);
  const listUnder = (part: ListQuery['part']) =>
    prepare(database, `${listing(part)} WHERE kind = ? AND parent = ? ORDER BY id`);
  return {
    get: prepare(database, `SELECT parent, revision, body ${existing}`),
    revision: prepare(database, `SELECT revision ${existing}`),
    firstIds: prepare(database, `SELECT id FROM ${table} WHERE kind = ? AND parent = ? ORDER BY id LIMIT ?`),
    list: { summary: list('summary'), body: list('body') },
    listUnder: { summary: listUnder('summary'), body: listUnder('body') },
    write: prepare(
      database,
      `INSERT INTO ${table} (kind, id, parent, revision, summary, body) VALUES (?, ?, ?, 1, ?, ?)
      ON CONFLICT (kind, id) DO UPDATE SET
        parent = excluded.parent, revision = revision + 1, summary = excluded.summary, body = excluded.body
      RETURNING revision`,
    ),
  };
}

function toListedDocument(kind: string, { id, parent, revision, content }: ListedRow): ListedDocument {
  return { key: { kind, id }, parent, revision, content: JSON.parse(content) };
}
