import type { Database, Statements } from '../database.js';
import { lockKey, type TableLocation, type TableNames } from '../tables.js';

/** Rows per deletion. Bounds how long reports wait for one. */
export const SLICE = 5000;

/**
 * Reports share this lock, deletions take it exclusively. So no deletion removes half of a report, and the two do not
 * deadlock. It is an advisory lock of the transaction and needs no session.
 */
export interface UsageLock {
  /** SQL: the table expression `usage_lock` with one row. A statement that adds usage begins with it and reads from it. */
  readonly shared: string;
  /** Runs deletions in a transaction that holds the lock exclusively. */
  exclusive<T>(work: (statements: Statements) => Promise<T>): Promise<T>;
}

export interface UsageTables {
  readonly database: Database;
  readonly names: TableNames;
  readonly lock: UsageLock;
}

export function createUsageLock(database: Database, location: TableLocation): UsageLock {
  const key = lockKey('usage', location);
  return {
    shared: `usage_lock AS (SELECT pg_advisory_xact_lock_shared(${key}))`,
    exclusive: (work) => database.transaction(work, { first: `SELECT pg_advisory_xact_lock(${key})` }),
  };
}

/** Runs a statement that returns a number as `count`. */
export async function countOf(statements: Statements, text: string, values: readonly unknown[] = []): Promise<number> {
  const [row] = await statements.query<{ readonly count: string }>(text, values);
  return Number(row?.count ?? 0);
}
