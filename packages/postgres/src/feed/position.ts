import { createHash } from 'node:crypto';
import { FlagsError } from '@flags/core';
import type { Statements } from '../database.js';
import { type TableNames, toLiteral } from '../tables.js';

/** The position of an event: that of its commit, then its id within the commit. Texts, because both may exceed 2^53. */
export interface Position {
  readonly commitOrder: string;
  readonly id: string;
  /**
   * Identifies the event. After a failover without synchronous replication, the new server gives transaction ids and event
   * ids again.
   */
  readonly mark: string;
}

export function toPosition({ commitOrder, id, mark }: Position): string {
  return `${commitOrder}-${id}-${mark}`;
}

/** The mark of an event's position: of its change set, whose id is unique. */
export function markOf(changeSet: string): string {
  return createHash('sha256').update(changeSet).digest('hex').slice(0, 8);
}

const MARK = /^[0-9a-f]{8}$/;
const NUMBER = /^(0|[1-9]\d{0,18})$/;
/** The largest number that the columns hold. */
const LARGEST = 2n ** 63n - 1n;

/** Fails with `invalid_input` for a text that {@link toPosition} has not made. */
export function parsePosition(position: string): Position {
  const [commitOrder = '', id = '', mark = '', ...more] = position.split('-');
  const isNumber = (part: string) => NUMBER.test(part) && BigInt(part) <= LARGEST;
  const isSound = more.length === 0 && isNumber(commitOrder) && isNumber(id) && MARK.test(mark);
  if (isSound) return { commitOrder, id, mark };
  throw new FlagsError(
    'invalid_input',
    `${JSON.stringify(position)} is not a position in this storage's events. Pass the position of an event that it returned.`,
  );
}

/** The row of `meta` with the number that is added to a transaction id to get a commit's position. */
export const FEED_OFFSET = 'feed_offset';

/** SQL: the id of the current transaction. */
export const TRANSACTION_ID = 'pg_current_xact_id()::text';

/** SQL: the offset between transaction ids and positions. */
export function feedOffset(names: TableNames): string {
  return `(SELECT value FROM ${names.table('meta')} WHERE name = '${FEED_OFFSET}')`;
}

/** SQL: a text that differs on another server, after a restart, and after the table of events was replaced. */
export function serverIdentity(names: TableNames): string {
  return `concat(pg_postmaster_start_time(), ' ', pg_relation_filenode(${toLiteral(names.table('events'))}))`;
}

/**
 * Moves the offset if stored positions are ahead of the server's transaction ids. That happens after a restore from a dump,
 * or a move to another server, where ids start again. Call it when a storage is opened, before the first commit.
 *
 * Nodes that open at once compute the same offset. A standby cannot write, and its primary moves the offset.
 */
export async function alignFeedOffset(statements: Statements, names: TableNames): Promise<void> {
  const events = names.table('events');
  const isAhead = `(SELECT commit_order FROM ${events} ORDER BY commit_order DESC LIMIT 1)
    >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${feedOffset(names)}`;
  const [found] = await statements.query<{ readonly ahead: string | null }>(
    `SELECT ${isAhead} AND NOT pg_is_in_recovery() AS ahead`,
  );
  if (found?.ahead !== 't') return;
  await statements.query(
    `UPDATE ${names.table('meta')} SET value = (SELECT max(commit_order) + 1 FROM ${events})
    WHERE name = '${FEED_OFFSET}' AND ${isAhead}`,
  );
}
