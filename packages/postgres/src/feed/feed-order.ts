/** How the place of an event in the feed comes about. */
export interface FeedOrder {
  /** Statements that a commit's transaction begins with. */
  readonly first: string | undefined;
  /** Gives `commit_order` to a commit, once everything is `written`. */
  readonly next: string;
  /** Further rows that a commit's statement tells. */
  readonly facts: readonly string[];
}

/** What the feed of this database is ordered by. Kept in the database: all nodes go by the same. */
export type FeedKind = 'snapshot' | 'counter';

/** The name of the row of `meta` that a kind of feed keeps its number in. */
export const FEED_ROWS = { snapshot: 'feed_offset', counter: 'feed_counter' } as const;
