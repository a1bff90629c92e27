import type { Database, Statements } from '../database.js';
import { lockKey, type TableLocation } from '../tables.js';

/**
 * Writers of metrics share this lock, deletions take it exclusively. So no deletion removes half of a report. It is an
 * advisory lock of the transaction and needs no session.
 */
export interface MetricsLock {
  /** SQL: the table expression `metrics_lock` with one row. A statement that adds metrics begins with it and reads from it. */
  readonly shared: string;
  /** Runs deletions in a transaction that holds the lock exclusively. */
  exclusive(work: (statements: Statements) => Promise<void>): Promise<void>;
}

export function createMetricsLock(database: Database, location: TableLocation): MetricsLock {
  const key = lockKey('metrics', location);
  return {
    shared: `metrics_lock AS (SELECT pg_advisory_xact_lock_shared(${key}))`,
    exclusive: (work) =>
      database.transaction(async (statements) => {
        await statements.query(`SELECT pg_advisory_xact_lock(${key})`);
        await work(statements);
      }),
  };
}
