import type { DocumentCheck, DocumentKey, Vacancy } from '@flags/core';
import type { PreparedCommit, PreparedEvent, PreparedWrite } from '@flags/core/integration';
import type { FeedOrder } from '../feed/order.js';
import { type TableNames, toLiteral, toLiterals, toStoredText } from '../tables.js';

export function toStoredKey({ kind, id }: DocumentKey): DocumentKey {
  return { kind: toStoredText(kind), id: toStoredText(id) };
}

/** By bytes, as the columns' collation "C" does. */
export function compareStoredKeys(one: DocumentKey, other: DocumentKey): number {
  return compare(one.kind, other.kind) || compare(one.id, other.id);
}

export function toStoredTextOrNull(text: string | null): string | null {
  return text === null ? null : toStoredText(text);
}

function compare(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

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

/**
 * Appends the events, and gives a row for each: its `id`, its `place` and the `transaction`. Ids are given in the order of the
 * events.
 */
export function eventStatement(
  { events, writes }: PreparedCommit,
  { names, order }: { readonly names: TableNames; readonly order: FeedOrder },
): string {
  const rows = events.map((event) => `${revisionOf(event, { writes, names })}, ${toLiterals(textsOf(event))}`);
  const turn = `(SELECT value AS number FROM ${names.table('meta')} WHERE name = '${order.row}') AS turn`;
  return `INSERT INTO ${names.table('events')} (commit_order, revision, ${TEXTS})
SELECT ${order.place}, ${rows.length === 1 ? `${rows[0]} FROM ${turn}` : fromMany(rows, turn)}
RETURNING id, commit_order AS place, ${order.transaction} AS transaction`;
}

/** Joining and ordering take twice as long to plan, so this is for several alone. */
function fromMany(rows: readonly string[], turn: string): string {
  const numbered = rows.map((row, at) => `(${at}, ${row})`);
  return `e.revision, ${TEXTS}
FROM ${turn} CROSS JOIN (VALUES ${numbered.join(',\n')}) AS e (event_number, revision, ${TEXTS})
ORDER BY e.event_number`;
}

/** The order of {@link textsOf}. */
const TEXTS =
  'type, at, actor, subject_kind, subject_id, project, environment, actor_token_id, actor_token_kind, data, before';

function textsOf(event: PreparedEvent) {
  const { type, at, actor, project, environment, actorTokenId = null, actorTokenKind = null, data, before } = event;
  const { kind, id } = toStoredKey(event.subject);
  const head = [toStoredText(type), toStoredText(at), toStoredText(actor), kind, id];
  return [...head, ...[project, environment, actorTokenId, actorTokenKind].map(toStoredTextOrNull), data, before];
}

/** Known beforehand, unless the document may have been deleted before. */
function revisionOf(
  event: PreparedEvent,
  { writes, names }: { readonly writes: readonly PreparedWrite[]; readonly names: TableNames },
): string {
  const expected = writes[event.write]?.expected ?? 0;
  if (expected > 0) return `${toLiteral(String(expected))}::bigint + 1`;
  return `(SELECT revision FROM ${names.table('documents')} WHERE ${isDocument(event.subject)})`;
}

/**
 * Gives the `id` of the first document that stands where it must be vacant, as the commit's writes leave it. A statement of
 * its own, after all locks are held: one that begins before may see too little.
 */
export function vacancyStatement({ kind, parent }: Vacancy, names: TableNames): string {
  return `SELECT id FROM ${names.table('documents')}
WHERE kind = ${toLiteral(toStoredText(kind))} AND parent = ${toLiteral(toStoredText(parent))}
ORDER BY id LIMIT 1`;
}
