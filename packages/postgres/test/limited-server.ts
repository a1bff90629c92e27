import type { Pool } from 'pg';
import type { PgPool } from '../src/index.js';
import { databaseError, interferedPool } from './interfered-pool.js';

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

  function rewrite(text: string): string {
    if (text !== 'COMMIT') return limitedText(text);
    commits += 1;
    return commits % LOST === 0 ? 'ROLLBACK' : text;
  }

  const limited = interferedPool(
    pool,
    ({ text }, _, { command }) => {
      if (text !== 'COMMIT' || command === text) return;
      lost += 1;
      throw databaseError('40001', 'restart transaction: TransactionRetryWithProtoRefreshError');
    },
    rewrite,
  );
  return { pool: limited, lost: () => lost };
}

function limitedText(text: string): string {
  return text
    .replace(VERSION, "'CockroachDB CCL v25.2.0 (x86_64-pc-linux-gnu)'")
    .replace(LACKING, 'lacking_$1(')
    .replace(FORMS, 'LACKING FORM')
    .replace(LISTEN, 'SELECT lacking_listen()')
    .replace(LIMIT, 'lacking_limit');
}
