import { type TableNames, toLiteral } from '../tables.js';

/** How the place of an event in the feed comes about. */
export interface FeedOrder {
  /** The statement that every commit's transaction begins with. It may tell the `source` that places come from. */
  readonly first: string | undefined;
  /**
   * A statement that tells, within a commit's transaction, whether the commit's own place is wrong, or there are events with
   * a place that is yet to come: `misplaced`. Needed where the first statement tells a source.
   */
  readonly look: ((place: string) => string) | undefined;
  /** The statement that comes after everything is written, and before the events are appended. */
  readonly turn: string | undefined;
  /** An expression for the `commit_order` of the events; `number` is the feed's own number, {@link FEED_ROWS}. */
  readonly place: string;
  /** The name of the row that has the feed's own number. */
  readonly row: string;
  /** An expression for the transaction's id; NULL where the database has none. */
  readonly transaction: string;
}

/** What the feed of this database is ordered by. Kept in the database: all nodes go by the same. */
export type FeedKind = 'snapshot' | 'counter';

/** The name of the row of `meta` that a kind of feed keeps its number in. */
export const FEED_ROWS = { snapshot: 'feed_offset', counter: 'feed_counter' } as const;

/** The id of the transaction that is under way. */
export const TRANSACTION_ID = 'pg_current_xact_id()::text';

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

/**
 * Orders by a number that every commit takes last and holds until it has ended, so that the next one is given later. It
 * needs nothing but row locks; commits with events wait for each other.
 */
export function counterOrder(names: TableNames, { hasTransactionIds }: { hasTransactionIds: boolean }): FeedOrder {
  return {
    first: undefined,
    look: undefined,
    turn: `UPDATE ${names.table('meta')} SET value = value + 1 WHERE name = '${FEED_ROWS.counter}'`,
    place: 'number',
    row: FEED_ROWS.counter,
    transaction: hasTransactionIds ? TRANSACTION_ID : 'NULL',
  };
}
