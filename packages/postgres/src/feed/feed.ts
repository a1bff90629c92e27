import type { EventPage, StoredEventQuery } from '@flags/core';
import type { Database, Statements } from '../database.js';
import type { TableNames } from '../tables.js';
import { createReadEvents } from './events.js';
import { counterOrder, FEED_ROWS, type FeedOrder, isMisplaced } from './order.js';

/** The events of a storage, in an order that never changes behind a reader. */
export interface Feed {
  readonly order: FeedOrder;
  query(query: StoredEventQuery): Promise<EventPage>;
}

/** Gives every event that is committed: what comes later has a higher number. */
export function counterFeed(options: {
  readonly statements: Statements;
  readonly names: TableNames;
  readonly hasTransactionIds: boolean;
}): Feed {
  const { statements, names, hasTransactionIds } = options;
  const read = createReadEvents(statements, names);
  return {
    order: counterOrder(names, { hasTransactionIds }),
    query: async (query) => (await read(query)).page,
  };
}

/**
 * Lets the order of events go on where it ended on another server: tables that were dumped and restored, or replicated by
 * their rows, meet transaction ids that begin anew. While that is so no commit goes through, so none is placed wrongly.
 */
export async function placeFeed(database: Database, names: TableNames): Promise<void> {
  await database.query(
    `UPDATE ${names.table('meta')} SET value = (SELECT max(commit_order) + 1 FROM ${names.table('events')})
    WHERE name = '${FEED_ROWS.snapshot}' AND ${isMisplaced(names)}`,
  );
}
