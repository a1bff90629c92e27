import { randomUUID } from 'node:crypto';
import { createBatchLoader } from './batch-loader.js';
import type { Statements } from './database.js';
import { FEED_ROWS, type FeedKind, sourceOf } from './feed/order.js';
import type { ServerKind } from './server-kind.js';
import type { TableNames } from './tables.js';

export interface VersionedTables {
  readonly names: TableNames;
  readonly kind: FeedKind;
  readonly server: Pick<ServerKind, 'hasTransactionIds'>;
}

/**
 * A statement that tells what is visible: one, and so of one snapshot. It is asked with nearly every request: it reads two
 * tables, and leaves to us whatever would take long to plan.
 */
export function dataVersionStatement({ names, kind, server }: VersionedTables): string {
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

/** What `stampStatement` gives. */
export interface DataVersionRow extends Partial<PlacedEvents> {
  /** The sum of all numbers of `meta`: each of them only grows, so while the sum is the same, all are. */
  readonly numbers: string | null;
  /** A server that has taken over may give numbers again, to other commits than those it has not heard of. */
  readonly source?: string;
}

/** Which events are visible, where they have the places of their transactions. */
interface PlacedEvents {
  readonly newest: string | null;
  readonly feed_offset: string | null;
  readonly snapshot: string;
  readonly standby: string;
}

/** A text that is the same only while the same commits, and the same changes of metrics, are visible. */
export function dataVersionText({
  numbers,
  source,
  newest = null,
  feed_offset = null,
  snapshot,
  standby,
}: DataVersionRow): string {
  const known = [source, numbers];
  if (snapshot === undefined) return known.join('/');
  // A standby does not know what is running elsewhere.
  if (standby === 't') return randomUUID();
  return [...known, newest, stillRunning({ newest, feed_offset, snapshot })].join('/');
}

/**
 * The transactions below the newest place that are still running. While both are the same, so are the events that are
 * visible: one that becomes visible has a newer place, or its transaction was among those. Transactions that begin later have
 * newer ids. So strangers move this only when they end, and only those that were running at the last change.
 *
 * Where that does not hold, because there is no newest place or it is yet to come, the whole snapshot tells it.
 */
function stillRunning({ newest, feed_offset, snapshot }: Omit<PlacedEvents, 'standby'>): string {
  if (newest === null || feed_offset === null) return snapshot;
  const [, end = '0', running = ''] = snapshot.split(':');
  const newestId = BigInt(newest) - BigInt(feed_offset);
  if (newestId >= BigInt(end)) return snapshot;
  return running
    .split(',')
    .filter((id) => id !== '' && BigInt(id) < newestId)
    .join();
}

/** Asks for the stamp: one statement for all who ask in the same turn of the event loop. */
export function dataVersionReader(statements: Statements, tables: VersionedTables): () => Promise<string> {
  const text = dataVersionStatement(tables);
  const read = createBatchLoader<'stamp', string>(async () => {
    const rows = await statements.query<DataVersionRow>(text);
    const stamp = rows.map(dataVersionText).join();
    return () => stamp;
  });
  return () => read('stamp');
}
