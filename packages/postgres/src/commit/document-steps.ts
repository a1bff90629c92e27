import type { DocumentCheck, DocumentKey, PreparedCommit, PreparedWrite } from '@flags/core';
import { toLiteral, toLiterals } from '../literal.js';
import type { TableNames } from '../schema/table-names.js';
import { compareStoredKeys, toStoredKey, toStoredTextOrNull } from './stored-key.js';

/** What a commit does with one document. */
export interface DocumentStep {
  /** Gives one row with the `revision`, or none where the document is not as expected; a lock gives no `revision`. */
  readonly statement: string;
  /** The document, as the commit names it. */
  readonly named: PreparedWrite | DocumentCheck;
}

/**
 * Locks what is there, then writes; both by key in one order for everybody, so that crossing commits never wait for each
 * other in a circle. Many may check a document at once, one may write it.
 *
 * An UPDATE would lock as well, but takes its transaction's id before it waits for those who check the document. They
 * would then stand behind it in the feed, although they came before.
 */
export function documentSteps({ writes, checks }: PreparedCommit, names: TableNames): readonly DocumentStep[] {
  const table = names.table('documents');
  const existing = writes.filter(({ expected }) => expected > 0);
  const locks = [
    ...existing.map((named) => ({ named, statement: lock(named, table) })),
    ...checks.map((named) => ({ named, statement: check(named, table) })),
  ];
  const changes = writes.map((named) => ({ named, statement: write(named, table) }));
  return [...inKeyOrder(locks), ...inKeyOrder(changes)];
}

function inKeyOrder(steps: readonly DocumentStep[]): readonly DocumentStep[] {
  return steps
    .map((step) => ({ step, key: toStoredKey(step.named.key) }))
    .sort((one, other) => compareStoredKeys(one.key, other.key))
    .map(({ step }) => step);
}

/** The condition that a row is the document's. */
export function isDocument(key: DocumentKey): string {
  const { kind, id } = toStoredKey(key);
  return `kind = ${toLiteral(kind)} AND id = ${toLiteral(id)}`;
}

/** A row that was changed while the statement waited for it is compared as it is now. */
function isAsExpected({ key, expected }: DocumentCheck): string {
  return `${isDocument(key)} AND revision = ${toLiteral(String(expected))} AND body IS NOT NULL`;
}

function lock(document: DocumentCheck, table: string): string {
  return `SELECT 1 FROM ${table} WHERE ${isAsExpected(document)} FOR NO KEY UPDATE`;
}

function check(document: DocumentCheck, table: string): string {
  return `SELECT revision FROM ${table} WHERE ${isAsExpected(document)} FOR SHARE`;
}

function write(document: PreparedWrite, table: string): string {
  const { key, expected, content } = document;
  const values = toLiterals([toStoredTextOrNull(document.parent), content?.summary ?? null, content?.body ?? null]);
  return expected === 0
    ? create(toStoredKey(key), { table, values })
    : `UPDATE ${table} SET (parent, summary, body, revision) = (${values}, revision + 1)
WHERE ${isAsExpected(document)} RETURNING revision`;
}

/** Waits for who creates the same document at the same moment. One that was deleted goes on counting. */
function create(
  { kind, id }: DocumentKey,
  { table, values }: { readonly table: string; readonly values: string },
): string {
  return `INSERT INTO ${table} AS d (kind, id, parent, summary, body, revision)
VALUES (${toLiterals([kind, id])}, ${values}, 1)
ON CONFLICT (kind, id) DO UPDATE
SET parent = excluded.parent, summary = excluded.summary, body = excluded.body, revision = d.revision + 1
WHERE d.body IS NULL RETURNING revision`;
}
