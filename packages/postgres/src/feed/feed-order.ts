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
