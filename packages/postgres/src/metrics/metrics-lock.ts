import type { Database, Statements } from '../database.js';
import { lockKey, type TableLocation, type TableNames } from '../tables.js';

/** Rows per deletion. Bounds how long reports wait for one. */
export const SLICE = 5000;

/**
 * Writers of metrics share this lock, deletions take it exclusively. So no deletion removes half of a report. It is an
 * advisory lock of the transaction and needs no session.
 */
export interface MetricsLock {
  /** SQL: the table expression `metrics_lock` with one row. A statement that adds metrics begins with it and reads from it. */
  readonly shared: string;
  /** Runs deletions in a transaction that holds the lock exclusively. */
  exclusive(work: (statements: Statements) => Promise<void>): Promise<void>;
  /**
   * Runs a statement in transactions that hold the lock exclusively, until the number that it returns as `count` is less
   * than {@link SLICE}. `value` is its only parameter.
   */
  repeat(text: string, value?: number | string): Promise<void>;
}

export interface MetricsTables {
  readonly database: Database;
  readonly names: TableNames;
  readonly lock: MetricsLock;
}

export function createMetricsLock(database: Database, location: TableLocation): MetricsLock {
  const key = lockKey('metrics', location);
  const exclusive: MetricsLock['exclusive'] = (work) =>
    database.transaction(async (statements) => {
      await statements.query(`SELECT pg_advisory_xact_lock(${key})`);
      await work(statements);
    });
  return {
    shared: `metrics_lock AS (SELECT pg_advisory_xact_lock_shared(${key}))`,
    exclusive,
    async repeat(text, value) {
      let count = SLICE;
      while (count === SLICE) {
        await exclusive(async (statements) => {
          count = await countOf(statements, text, value);
        });
      }
    },
  };
}

/** Runs a statement that returns a number as `count`. */
export async function countOf(statements: Statements, text: string, value?: number | string): Promise<number> {
  const [row] = await statements.query<{ readonly count: string }>(text, value === undefined ? [] : [value]);
  return Number(row?.count ?? 0);
}
