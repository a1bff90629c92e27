import type { DocumentKey, ListedDocument, ListQuery, StoredDocument } from '@flags/core';
import type { Statements } from './database.js';
import type { TableNames } from './schema/table-names.js';
import { fromStoredText, toStoredText } from './stored-text.js';

interface DocumentRow {
  readonly parent: string | null;
  readonly revision: string;
  readonly body: string;
}

interface ListedRow {
  readonly id: string;
  readonly parent: string | null;
  readonly revision: string;
  readonly content: string;
}

const COLUMNS = { summary: 'summary', body: 'body' } as const;

export interface Documents {
  get(key: DocumentKey): Promise<StoredDocument | undefined>;
  list(query: ListQuery): Promise<ListedDocument[]>;
}

/** Deleted documents have neither body nor parent, so those under a parent all exist. */
export function createDocuments(statements: Statements, names: TableNames): Documents {
  const table = names.table('documents');

  return {
    async get({ kind, id }) {
      const [row] = await statements.query<DocumentRow>(
        `SELECT parent, revision, body FROM ${table} WHERE kind = $1 AND id = $2 AND body IS NOT NULL`,
        [toStoredText(kind), toStoredText(id)],
      );
      if (!row) return undefined;
      const { parent, revision, body } = row;
      return { key: { kind, id }, parent: textOrNull(parent), revision: Number(revision), body: JSON.parse(body) };
    },
    async list({ kind, parent, part }) {
      const rows = await statements.query<ListedRow>(
        `SELECT id, parent, revision, ${COLUMNS[part]} AS content FROM ${table}
        WHERE kind = $1 AND ${parent === undefined ? 'body IS NOT NULL' : 'parent = $2'} ORDER BY id`,
        [kind, ...(parent === undefined ? [] : [parent])].map(toStoredText),
      );
      return rows.map((row) => toListedDocument(kind, row));
    },
  };
}

function toListedDocument(kind: string, { id, parent, revision, content }: ListedRow): ListedDocument {
  const key = { kind, id: fromStoredText(id) };
  return { key, parent: textOrNull(parent), revision: Number(revision), content: JSON.parse(content) };
}

function textOrNull(stored: string | null): string | null {
  return stored === null ? null : fromStoredText(stored);
}
