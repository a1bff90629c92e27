import type { Database, Statements } from '../database.js';
import { lockKey } from '../schema/lock-key.js';
import type { Place } from '../schema/table-names.js';

/**
 * Who adds to the metrics and who drops from them, one after the other: those who add take a turn together, those who
 * drop have it alone. So nobody drops half of a report. The lock is the transaction's and needs no session.
 */
export interface Turns {
  /** Heads a statement that adds: a table expression with one row, for the statement to read from. */
  readonly shared: string;
  /** Runs what drops in a transaction that has the turn for itself. */
  alone(work: (statements: Statements) => Promise<void>): Promise<void>;
}

export function metricsTurns(database: Database, place: Place): Turns {
  const key = lockKey('metrics', place);
  return {
    shared: `turn AS (SELECT pg_advisory_xact_lock_shared(${key}))`,
    alone: (work) =>
      database.transaction(async (statements) => {
        await statements.query(`SELECT pg_advisory_xact_lock(${key})`);
        await work(statements);
      }),
  };
}
