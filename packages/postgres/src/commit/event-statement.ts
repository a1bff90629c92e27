import type { PreparedCommit, PreparedEvent, PreparedWrite } from '@flags/core';
import type { FeedOrder } from '../feed/feed-order.js';
import { toLiteral, toLiterals } from '../literal.js';
import type { TableNames } from '../schema/table-names.js';
import { toStoredText } from '../stored-text.js';
import { isDocument } from './document-steps.js';
import { toStoredKey, toStoredTextOrNull } from './stored-key.js';

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
