import type { TableNames } from '../schema/table-names.js';
import { FEED_ROWS, type FeedOrder } from './feed-order.js';

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
    first: `SELECT pg_advisory_xact_lock_shared(${commitLock})`,
    next: `SELECT pg_current_xact_id()::text::bigint + ${feedOffset(names)} AS commit_order`,
    facts: [
      "SELECT 'transaction', '', '', pg_current_xact_id()::text::bigint",
      // What is visible has an older id than what comes; unless the tables came here from another server.
      `SELECT 'misplaced', '', '', 0 WHERE ${isMisplaced(names)}`,
    ],
  };
}

/** Whether there are events with a place that this server has yet to give. */
export function isMisplaced(names: TableNames): string {
  return `(SELECT max(commit_order) FROM ${names.table('events')})
    >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ${feedOffset(names)}`;
}
