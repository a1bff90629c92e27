import type { Database, Statements } from '../database.js';
import type { ServerKind } from '../server-kind.js';
import { lockKey, type Place, tableNames } from '../tables.js';

/**
 * Who adds to the metrics and who drops from them, one after the other: those who add take a turn together, those who
 * drop have it alone. So nobody drops half of a report. The lock is the transaction's and needs no session. Where there are no advisory locks it is that of a row,
 * which costs a write.
 */
export interface Turns {
  /** Heads a statement that adds: a table expression with one row, for the statement to read from. */
  readonly shared: string;
  /** Runs what drops in a transaction that has the turn for itself. */
  alone(work: (statements: Statements) => Promise<void>): Promise<void>;
}

export function metricsTurns(database: Database, place: Place, server: Pick<ServerKind, 'hasAdvisoryLocks'>): Turns {
  const { shared, alone } = server.hasAdvisoryLocks ? advisoryLock(place) : rowLock(place);
  return {
    shared: `turn AS (${shared})`,
    alone: (work) =>
      database.transaction(async (statements) => {
        await statements.query(alone);
        await work(statements);
      }),
  };
}

function advisoryLock(place: Place) {
  const key = lockKey('metrics', place);
  return {
    shared: `SELECT pg_advisory_xact_lock_shared(${key})`,
    alone: `SELECT pg_advisory_xact_lock(${key})`,
  };
}

function rowLock(place: Place) {
  const row = `SELECT name FROM ${tableNames(place).table('meta')} WHERE name = 'schema_version'`;
  return { shared: `${row} FOR SHARE`, alone: `${row} FOR UPDATE` };
}
