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
    // What is visible has an older id than what comes; unless the tables came here from another server.
    first: `SELECT pg_advisory_xact_lock_shared(${commitLock}), ${isMisplaced(names)} AS misplaced`,
    turn: undefined,
    place: `${TRANSACTION_ID}::bigint + number`,
    row: FEED_ROWS.snapshot,
    transaction: TRANSACTION_ID,
  };
}

/** Whether there are events with a place that this server has yet to give. */
export function isMisplaced(names: TableNames): string {
  // A maximum would be the same, and take twice as long to plan.
  return `(SELECT commit_order FROM ${names.table('events')} ORDER BY commit_order DESC LIMIT 1)
    >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${feedOffset(names)}`;
}
