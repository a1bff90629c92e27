import { DatabaseError, type Pool, type PoolClient } from 'pg';
import type { PgPool, PgQuery } from '../src/index.js';

/**
 * What databases lack that speak PostgreSQL's protocol and are none, as CockroachDB's documentation lists it: transaction ids and
 * snapshots, notifications, advisory locks, limits of idling within a transaction, and what tells of servers that take over.
 */
const LACKING =
  /\b(pg_current_xact_id|pg_current_snapshot|pg_snapshot_x\w+|pg_xact_status|pg_is_in_recovery|pg_postmaster_start_time|pg_relation_filenode|pg_notify|pg_advisory_xact_lock|pg_advisory_xact_lock_shared)\(/g;
const LISTEN = /^LISTEN .*$/;
const LIMIT = /\bidle_in_transaction_session_timeout\b/g;
/** Forms that its grammar does not have. */
const FORMS = /\bSELECT FROM\b|= ROW \(/g;
const VERSION = /\bversion\(\)/g;

/** One transaction in so many is told at its COMMIT that it has lost a race, as happens where locks are optimistic. */
const LOST = 4;

export interface LimitedServer {
  readonly pool: PgPool;
  /** How many transactions were told that they have lost. */
  readonly lost: () => number;
}

/**
 * A pool on a PostgreSQL that passes itself off as another database: it says so, knows no functions that the other lacks, and
 * has transactions fail at their COMMIT. It is to be told apart from a real one by nothing that the storage asks.
 */
export function limitedServer(pool: Pool): LimitedServer {
  let commits = 0;
  let lost = 0;

  async function query(client: Pick<PoolClient, 'query'>, asked: PgQuery) {
    if (asked.text !== 'COMMIT' || ++commits % LOST !== 0)
      return client.query({ ...asked, text: limitedText(asked.text) });
    lost += 1;
    await client.query('ROLLBACK');
    throw restart();
  }

  return {
    lost: () => lost,
    pool: {
      query: (asked) => query(pool, asked),
      on: (event, listener) => pool.on(event, listener),
      removeListener: (event, listener) => pool.removeListener(event, listener),
      end: () => pool.end(),
      async connect() {
        const client = await pool.connect();
        return {
          query: (asked) => query(client, asked),
          on: (event: string, listener: (...parameters: never[]) => void) => client.on(event as 'end', listener),
          removeListener: (event, listener) => client.removeListener(event, listener),
          release: (error) => client.release(error),
        };
      },
    },
  };
}

function limitedText(text: string): string {
  return text
    .replace(VERSION, "'CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu)'")
    .replace(LACKING, 'lacking_$1(')
    .replace(FORMS, 'LACKING FORM')
    .replace(LISTEN, 'SELECT lacking_listen()')
    .replace(LIMIT, 'lacking_limit');
}

function restart(): DatabaseError {
  const error = new DatabaseError('restart transaction: TransactionRetryWithProtoRefreshError', 0, 'error');
  return Object.assign(error, { code: '40001', severity: 'ERROR' });
}
