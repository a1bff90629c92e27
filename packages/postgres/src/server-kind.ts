import { FlagsError } from '@flags/core';
import type { Statements } from './database.js';
import type { FeedKind } from './feed/order.js';

/** What a database can do that speaks PostgreSQL's protocol. */
export interface ServerKind {
  readonly hasTransactionIds: boolean;
  /** Locks that a transaction takes by a number, and keeps to its end. */
  readonly hasAdvisoryLocks: boolean;
  /** The feed that it is best served by. */
  readonly feed: FeedKind;
}

/** The first version whose transaction ids never wrap around. */
const FIRST_WITH_LONG_IDS = 130_000;

/** Databases that speak the protocol and have no transaction ids, or none that tell an order, and do not all have advisory locks. */
const OTHERS = /cockroach|yugabyte|-YB-|spanner|materialize/i;

/** Fails with `storage_unsupported` when the database keeps text in another encoding than UTF-8. */
export async function readServerKind(statements: Statements): Promise<ServerKind> {
  const [row] = await statements.query<Record<'encoding' | 'number' | 'version', string | null>>(
    `SELECT current_setting('server_encoding') AS encoding, current_setting('server_version_num') AS number,
      version() AS version`,
  );
  const encoding = row?.encoding?.replace('-', '').toUpperCase();
  if (encoding !== 'UTF8') {
    const message = `The database keeps text as ${encoding}, which cannot hold every name. Use one with the encoding UTF8.`;
    throw new FlagsError('storage_unsupported', message);
  }
  const isPostgres = !OTHERS.test(row?.version ?? '');
  const hasTransactionIds = isPostgres && Number(row?.number) >= FIRST_WITH_LONG_IDS;
  return { hasTransactionIds, hasAdvisoryLocks: isPostgres, feed: hasTransactionIds ? 'snapshot' : 'counter' };
}
