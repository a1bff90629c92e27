import { toLiteral } from '../literal.js';
import type { TableNames } from '../schema/table-names.js';
import { FEED_ROWS, type FeedOrder, TRANSACTION_ID } from './feed-order.js';

/** What is added to transaction ids, so that they go on where those of another server ended. */
export function feedOffset(names: TableNames): string {
  return `(SELECT value FROM ${names.table('meta')} WHERE name = '${FEED_ROWS.snapshot}')`;
}

/**
 * Orders by transaction ids. They are given in another order than transactions end in, so a reader stops below the oldest
 * one that is still running.
 *
 * Every commit holds a lock that all commits may share, from before it is given an id until it has ended: who gets that
 * lock alone knows that no commit is under way.
 */
export function snapshotOrder(names: TableNames, commitLock: string): FeedOrder {
  return {
    first: `SELECT pg_advisory_xact_lock_shared(${commitLock}), ${sourceOf(names)} AS source`,
    // Its own place is one that snapshots still take to be yet to come, and is wrong when the feed was put right meanwhile.
    look: (place) => `SELECT ${TRANSACTION_ID}::bigint + ${feedOffset(names)} <> ${toLiteral(place)}::bigint
      OR ${isMisplaced(names, `WHERE commit_order <> ${toLiteral(place)}::bigint`)} AS misplaced`,
    turn: undefined,
    place: `${TRANSACTION_ID}::bigint + number`,
    row: FEED_ROWS.snapshot,
    transaction: TRANSACTION_ID,
  };
}

/** Another text on another server, after a restart, and where the table of events was replaced. */
export function sourceOf(names: TableNames): string {
  return `concat(pg_postmaster_start_time(), ' ', pg_relation_filenode(${toLiteral(names.table('events'))}))`;
}

/**
 * Whether there are events with a place that this server has yet to give. What is visible has an older id than what
 * comes; unless the tables came here from another server.
 */
export function isMisplaced(names: TableNames, events = ''): string {
  // A maximum would be the same, and take twice as long to plan.
  return `(SELECT commit_order FROM ${names.table('events')} ${events} ORDER BY commit_order DESC LIMIT 1)
    >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${feedOffset(names)}`;
}
