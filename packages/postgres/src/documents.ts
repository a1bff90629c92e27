import type { DocumentKey, ListedDocument, ListQuery, StoredDocument } from '@flags/core/storage';
import { createBatchLoader } from './batches.js';
import { toStoredKey } from './commit/statements.js';
import type { Statement, Statements } from './database.js';
import { fromStoredText, type TableNames, toStoredText } from './tables.js';

interface DocumentRow {
  readonly kind: string;
  readonly id: string;
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

/** Reads documents. Deleted ones have neither body nor parent, so all documents under a parent exist. */
export function createDocuments(statements: Statements, names: TableNames): Documents {
  const table = names.table('documents');

  async function find(keys: readonly DocumentKey[]): Promise<(key: DocumentKey) => DocumentRow | undefined> {
    // Also finds documents with the kind of one key and the id of another. The caller ignores them.
    const kinds = oneOrMany(
      1,
      keys.map(({ kind }) => kind),
    );
    const ids = oneOrMany(
      2,
      keys.map(({ id }) => id),
    );
    const rows = await statements.query<DocumentRow>(
      `SELECT kind, id, parent, revision, body FROM ${table} WHERE kind ${kinds.is} AND id ${ids.is} AND body IS NOT NULL`,
      [kinds.value, ids.value],
    );
    const found = new Map(rows.map((row) => [nameOf(row), row]));
    return (key) => found.get(nameOf(key));
  }

  const findOne = createBatchLoader(find);

  return {
    async get({ kind, id }) {
      const row = await findOne(toStoredKey({ kind, id }));
      if (!row) return undefined;
      const { parent, revision, body } = row;
      return { key: { kind, id }, parent: textOrNull(parent), revision: Number(revision), body: JSON.parse(body) };
    },
    async list(query) {
      const { text, values } = listStatement(query, table);
      const rows = await statements.query<ListedRow>(text, values);
      return rows.map((row) => toListedDocument(query.kind, row));
    },
  };
}

/** A key as one text. Stored texts have no U+0000. */
function nameOf({ kind, id }: DocumentKey): string {
  return `${kind}\0${id}`;
}

/** Returns a condition on a column. PostgreSQL plans a comparison with one text faster than with a list of one. */
function oneOrMany(parameter: number, texts: readonly string[]): { readonly is: string; readonly value: unknown } {
  const distinct = [...new Set(texts)];
  return distinct.length === 1
    ? { is: `= $${parameter}`, value: distinct[0] }
    : { is: `= ANY ($${parameter})`, value: distinct };
}

function listStatement({ kind, parent, part, after, limit }: ListQuery, table: string): Statement {
  const conditions: readonly (readonly [string, string | undefined])[] = [
    ['kind =', kind],
    ['parent =', parent],
    ['id >', after],
  ];
  const given = conditions.filter((condition): condition is readonly [string, string] => condition[1] !== undefined);
  const where = given.map(([comparison], index) => `${comparison} $${index + 1}`);
  const values = given.map(([, value]) => toStoredText(value));
  return {
    text: `SELECT id, parent, revision, ${COLUMNS[part]} AS content FROM ${table}
      WHERE ${where.join(' AND ')} AND body IS NOT NULL ORDER BY id${limit === undefined ? '' : ` LIMIT $${values.length + 1}`}`,
    values: limit === undefined ? values : [...values, limit],
  };
}

function toListedDocument(kind: string, { id, parent, revision, content }: ListedRow): ListedDocument {
  const key = { kind, id: fromStoredText(id) };
  return { key, parent: textOrNull(parent), revision: Number(revision), content: JSON.parse(content) };
}

function textOrNull(stored: string | null): string | null {
  return stored === null ? null : fromStoredText(stored);
}
