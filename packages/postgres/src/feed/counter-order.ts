import type { TableNames } from '../schema/table-names.js';
import { FEED_ROWS, type FeedOrder, TRANSACTION_ID } from './feed-order.js';

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
