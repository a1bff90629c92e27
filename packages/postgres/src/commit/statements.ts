import type { PreparedCommit, PreparedEvent, PreparedWrite } from '@flags/core/integration/postgres';
import type { DocumentCheck, DocumentKey, Vacancy } from '@flags/core/storage';
import { FEED_OFFSET, TRANSACTION_ID } from '../feed/position.js';
import { type TableNames, toLiteral, toLiterals, toStoredText } from '../tables.js';

export function toStoredKey({ kind, id }: DocumentKey): DocumentKey {
  return { kind: toStoredText(kind), id: toStoredText(id) };
}

/** By bytes, as the columns' collation "C" does. */
function compareStoredKeys(one: DocumentKey, other: DocumentKey): number {
  return compare(one.kind, other.kind) || compare(one.id, other.id);
}

function toStoredTextOrNull(text: string | null): string | null {
  return text === null ? null : toStoredText(text);
}

function compare(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** One statement of a commit about one document. */
export interface DocumentStep {
  /** Returns one row with the `revision`, or none if the revision is not as expected. A lock returns no `revision`. */
  readonly statement: string;
  /** The write or check of the commit. */
  readonly named: PreparedWrite | DocumentCheck;
}

/**
 * Locks existing documents, then writes. Both go by key in the same order in every commit, so that crossing commits do not
 * deadlock. Many commits may check a document at once, one may write it.
 *
 * The lock comes first because an UPDATE takes its transaction id before it waits for commits that check the document.
 * The feed would then order it before them, although they end first.
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

/** SQL: the condition that a row is this document's. */
function isDocument(key: DocumentKey): string {
  const { kind, id } = toStoredKey(key);
  return `kind = ${toLiteral(kind)} AND id = ${toLiteral(id)}`;
}

/** After waiting for a lock, PostgreSQL compares the row's newest version. */
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
  if (content === 'unchanged') {
    return `UPDATE ${table} SET revision = revision + 1 WHERE ${isAsExpected(document)} RETURNING revision`;
  }
  const values = toLiterals([toStoredTextOrNull(document.parent), content?.summary ?? null, content?.body ?? null]);
  return expected === 0
    ? create(toStoredKey(key), { table, values })
    : `UPDATE ${table} SET (parent, summary, body, revision) = (${values}, revision + 1)
WHERE ${isAsExpected(document)} RETURNING revision`;
}

/** Waits for a concurrent commit that creates the same document. A deleted document continues its revisions. */
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

/** SQL: the id of the `transaction`, and the `schema_version` of the tables. */
export function transactionColumns({ table }: TableNames): string {
  const version = `(SELECT value FROM ${table('meta')} WHERE name = 'schema_version')`;
  return `${TRANSACTION_ID} AS transaction, ${version} AS schema_version`;
}

/**
 * Appends the events, and returns the `id` and the {@link transactionColumns} for each. Ids ascend in the order of the events. Returns
 * no row if `meta` has lost the feed's offset.
 */
export function eventStatement({ events, writes }: PreparedCommit, names: TableNames): string {
  const rows = events.map((event) => `${revisionOf(event, { writes, names })}, ${toLiterals(textsOf(event))}`);
  const feed = `(SELECT value AS feed_offset FROM ${names.table('meta')} WHERE name = '${FEED_OFFSET}') AS feed`;
  return `INSERT INTO ${names.table('events')} (commit_order, revision, ${TEXTS})
SELECT ${TRANSACTION_ID}::bigint + feed_offset, ${rows.length === 1 ? `${rows[0]} FROM ${feed}` : fromMany(rows, feed)}
RETURNING id, ${transactionColumns(names)}`;
}

/** For several events only, because joining and ordering take twice as long to plan. */
function fromMany(rows: readonly string[], feed: string): string {
  const numbered = rows.map((row, at) => `(${at}, ${row})`);
  return `e.revision, ${TEXTS}
FROM ${feed} CROSS JOIN (VALUES ${numbered.join(',\n')}) AS e (event_number, revision, ${TEXTS})
ORDER BY e.event_number`;
}

/** The order of {@link textsOf}. */
const TEXTS =
  'type, at, actor, subject_kind, subject_id, project, environment, actor_token_id, actor_token_kind, change_id, reason, origin, data, before';

function textsOf(event: PreparedEvent) {
  const { type, at, actor, project, environment, data, before } = event;
  const { actorTokenId, actorTokenKind, changeSet, reason, origin } = event;
  const { kind, id } = toStoredKey(event.subject);
  const head = [toStoredText(type), toStoredText(at), toStoredText(actor), kind, id];
  const optional = [project, environment, actorTokenId, actorTokenKind, changeSet, reason, origin];
  return [...head, ...optional.map(toStoredTextOrNull), data, before];
}

/** SQL: the revision. A created document may have had revisions before its deletion, so it is read. */
function revisionOf(
  event: PreparedEvent,
  { writes, names }: { readonly writes: readonly PreparedWrite[]; readonly names: TableNames },
): string {
  const expected = writes[event.write]?.expected ?? 0;
  if (expected > 0) return `${toLiteral(String(expected))}::bigint + 1`;
  return `(SELECT revision FROM ${names.table('documents')} WHERE ${isDocument(event.subject)})`;
}

/**
 * Returns the `id` of the first document under a vacant parent, after the commit's own writes. A separate statement
 * after all locks are held, because a statement that begins earlier has an older snapshot.
 */
export function vacancyStatement({ kind, parent }: Vacancy, names: TableNames): string {
  return `SELECT id FROM ${names.table('documents')}
WHERE kind = ${toLiteral(toStoredText(kind))} AND parent = ${toLiteral(toStoredText(parent))}
ORDER BY id LIMIT 1`;
}
