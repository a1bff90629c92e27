import type { TableNames } from '../schema/table-names.js';
import { FEED_ROWS, type FeedOrder } from './feed-order.js';

/**
 * Orders by a number that every commit takes last and holds until it has ended, so that the next one is given later. It
 * needs nothing but row locks; commits with events wait for each other.
 */
export function counterOrder(names: TableNames, { hasTransactionIds }: { hasTransactionIds: boolean }): FeedOrder {
  return {
    first: undefined,
    next: `UPDATE ${names.table('meta')} SET value = value + 1
      WHERE name = '${FEED_ROWS.counter}' AND (SELECT holds FROM sound) AND (SELECT count(*) FROM written) >= 0
      RETURNING value AS commit_order`,
    facts: hasTransactionIds ? ["SELECT 'transaction', '', '', pg_current_xact_id()::text::bigint"] : [],
  };
}
