import { FEED_ROWS, type FeedKind } from '../feed/feed-order.js';
import { sourceOf } from '../feed/snapshot-order.js';
import type { TableNames } from '../schema/table-names.js';
import type { ServerKind } from '../server-kind.js';

export interface StampedTables {
  readonly names: TableNames;
  readonly kind: FeedKind;
  readonly server: Pick<ServerKind, 'hasTransactionIds'>;
}

/**
 * A statement that tells what is visible: one, and so of one snapshot. It is asked with nearly every request: it reads two
 * tables, and leaves to us whatever would take long to plan.
 */
export function stampStatement({ names, kind, server }: StampedTables): string {
  const columns = [
    'sum(value) AS numbers',
    ...(server.hasTransactionIds ? [`${sourceOf(names)} AS source`] : []),
    ...(kind === 'snapshot' ? feedColumns(names) : []),
  ];
  return `SELECT ${columns.join(', ')} FROM ${names.table('meta')}`;
}

function feedColumns(names: TableNames): readonly string[] {
  return [
    `max(CASE WHEN name = '${FEED_ROWS.snapshot}' THEN value END) AS feed_offset`,
    `(SELECT commit_order FROM ${names.table('events')} ORDER BY commit_order DESC LIMIT 1) AS newest`,
    'pg_current_snapshot() AS snapshot',
    'pg_is_in_recovery() AS standby',
  ];
}
