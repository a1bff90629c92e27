import type { Database } from '../database.js';
import type { TableNames } from '../schema/table-names.js';
import { FEED_ROWS } from './feed-order.js';
import { isMisplaced } from './snapshot-order.js';

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
