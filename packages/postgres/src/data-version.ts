import { randomUUID } from 'node:crypto';
import { createBatchLoader } from './batches.js';
import type { Statements } from './database.js';
import { FEED_OFFSET, serverIdentity } from './feed/position.js';
import type { TableNames } from './tables.js';

/**
 * Reads the parts of the data version: one statement, so one snapshot. It runs with nearly every request, so it reads
 * two tables only, and {@link toDataVersion} does the work that would take long to plan.
 */
export function dataVersionStatement(names: TableNames): string {
  const { table } = names;
  return `SELECT sum(value) AS numbers, ${serverIdentity(names)} AS server,
max(CASE WHEN name = '${FEED_OFFSET}' THEN value END) AS feed_offset,
(SELECT commit_order FROM ${table('events')} ORDER BY commit_order DESC LIMIT 1) AS newest,
pg_current_snapshot() AS snapshot, pg_is_in_recovery() AS standby
FROM ${table('meta')}`;
}

/** The row of {@link dataVersionStatement}. */
export interface DataVersionRow {
  /** The sum of all numbers of `meta`. Each of them only grows, so an equal sum means equal numbers. */
  readonly numbers: string | null;
  /** A server that has taken over may give the same numbers again, to other commits. */
  readonly server: string;
  /** The position of the newest visible event. */
  readonly newest: string | null;
  readonly feed_offset: string | null;
  readonly snapshot: string;
  readonly standby: string;
}

/** The data version: while it is unchanged, the same commits and the same usage are visible. */
export function toDataVersion(row: DataVersionRow): string {
  // A standby does not know which transactions run on its primary.
  if (row.standby === 't') return randomUUID();
  return [row.server, row.numbers, row.newest, stillRunning(row)].join('/');
}

/**
 * Returns the running transactions below the newest position. While this list and the newest position stay the same, no
 * further event becomes visible: a later event has a newer position, or its transaction is in the list. A transaction of
 * another program changes the list only when it ends, and only if it was running at the last change.
 *
 * Returns the whole snapshot if there is no newest position, or if the position is above the snapshot.
 */
function stillRunning({ newest, feed_offset, snapshot }: DataVersionRow): string {
  if (newest === null || feed_offset === null) return snapshot;
  const [, end = '0', running = ''] = snapshot.split(':');
  const newestId = BigInt(newest) - BigInt(feed_offset);
  if (newestId >= BigInt(end)) return snapshot;
  return running
    .split(',')
    .filter((id) => id !== '' && BigInt(id) < newestId)
    .join();
}

/** Reads the data version: one statement for all calls of the same turn of the event loop. */
export function dataVersionReader(statements: Statements, names: TableNames): () => Promise<string> {
  const text = dataVersionStatement(names);
  const read = createBatchLoader<'dataVersion', string>(async () => {
    const rows = await statements.query<DataVersionRow>(text);
    const version = rows.map(toDataVersion).join();
    return () => version;
  });
  return () => read('dataVersion');
}

/** Bounds how many nodes write without waiting for each other. */
const SHARDS = 16;

/**
 * Rows of `meta`, the version shards: numbers that grow with every change that appends no event, such as usage. The data
 * version includes their sum. There are several, so that nodes seldom wait for each other.
 */
export function versionShardRows({ table }: TableNames): string {
  const rows = Array.from({ length: SHARDS }, (_, number) => `('mark_${number}', 0)`);
  return `
INSERT INTO ${table('meta')} (name, value) VALUES ${rows.join(', ')};
`;
}

/**
 * Increments a random version shard. Must be the last row lock of a transaction: its holder then waits for no other.
 *
 * @param after table expressions of the statement that must run before
 */
export function bumpVersionShard({ table }: TableNames, after: readonly string[] = []): string {
  const later = after.map((name) => ` AND (SELECT count(*) FROM ${name}) >= 0`);
  // A subquery, so that one random number is drawn, not one for each row.
  return `UPDATE ${table('meta')} SET value = value + 1
WHERE name = (SELECT concat('mark_', floor(random() * ${SHARDS})))${later.join('')}`;
}
