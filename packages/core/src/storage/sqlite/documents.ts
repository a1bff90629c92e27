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
  const table = `${prefix}documents`;
  const listing = (part: ListQuery['part']) => `SELECT id, parent, revision, ${part} AS content FROM ${table}`;
  const sql = {
    get: prepare(
      database,
      `SELECT parent, revision, body FROM ${table} WHERE kind = ? AND id = ? AND body IS NOT NULL`,
    ),
    revision: prepare(database, `SELECT revision FROM ${table} WHERE kind = ? AND id = ? AND body IS NOT NULL`),
    write: prepare(
      database,
      `INSERT INTO ${table} (kind, id, parent, revision, summary, body) VALUES (?, ?, ?, 1, ?, ?)
       ON CONFLICT (kind, id) DO UPDATE SET
         parent = excluded.parent, revision = revision + 1, summary = excluded.summary, body = excluded.body
       RETURNING revision`,
    ),
    // Tombstones have no parent.
    firstIds: prepare(database, `SELECT id FROM ${table} WHERE kind = ? AND parent = ? ORDER BY id LIMIT ?`),
    list: {
      summary: prepare(database, `${listing('summary')} WHERE kind = ? AND body IS NOT NULL ORDER BY id`),
      body: prepare(database, `${listing('body')} WHERE kind = ? AND body IS NOT NULL ORDER BY id`),
    },
    listUnder: {
      summary: prepare(database, `${listing('summary')} WHERE kind = ? AND parent = ? ORDER BY id`),
      body: prepare(database, `${listing('body')} WHERE kind = ? AND parent = ? ORDER BY id`),
    },
  };

  return {
    get({ kind, id }) {
      const row = sql.get.get(kind, id) as DocumentRow | undefined;
      if (!row) return undefined;
      return { key: { kind, id }, parent: row.parent, revision: row.revision, body: JSON.parse(row.body) };
    },
    list({ kind, parent, part }) {
      const rows = parent === undefined ? sql.list[part].all(kind) : sql.listUnder[part].all(kind, parent);
      return Array.from(rows as ListedRow[], ({ id, content, ...row }) => ({
        key: { kind, id },
        parent: row.parent,
        revision: row.revision,
        content: JSON.parse(content),
      }));
    },
    revision({ kind, id }) {
      const row = sql.revision.get(kind, id) as Pick<DocumentRow, 'revision'> | undefined;
      return row?.revision ?? 0;
    },
    firstIds({ kind, parent }, limit) {
      const rows = sql.firstIds.all(kind, parent, limit) as Pick<ListedRow, 'id'>[];
      return Array.from(rows, ({ id }) => id);
    },
    write({ key: { kind, id }, parent, content }) {
      const row = sql.write.get(kind, id, parent, content?.summary ?? null, content?.body ?? null);
      return (row as Pick<DocumentRow, 'revision'>).revision;
    },
  };
}
