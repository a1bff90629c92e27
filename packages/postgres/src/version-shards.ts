import type { TableNames } from './tables.js';

/** Bounds how many nodes write without waiting for each other. */
const SHARDS = 16;

/**
 * Rows of `meta`, the version shards: numbers that grow with every change that appends no event, such as metrics. The data
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
