import type { TableNames } from './tables.js';

/** More writers at once than this wait for each other's end. */
const MARKS = 16;

/**
 * Rows of `meta` that move with every change that has no event: metrics, and commits without events. Several, so that nodes
 * seldom wait for each other.
 */
export function markRows({ table }: TableNames): string {
  const rows = Array.from({ length: MARKS }, (_, number) => `('mark_${number}', 0)`);
  return `
INSERT INTO ${table('meta')} (name, value) VALUES ${rows.join(', ')};
`;
}

/**
 * Moves one of the marks. To be the last row that a transaction takes: who holds a mark waits for nobody.
 *
 * @param after the table expressions of the statement whose rows it comes after
 */
export function markStatement({ table }: TableNames, after: readonly string[] = []): string {
  const later = after.map((name) => ` AND (SELECT count(*) FROM ${name}) >= 0`);
  // A subquery, so that one number is thrown, not one for each row.
  return `UPDATE ${table('meta')} SET value = value + 1
WHERE name = (SELECT concat('mark_', floor(random() * ${MARKS})))${later.join('')}`;
}
