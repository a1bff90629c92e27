import { type EventPage, isFlagsError, type StoredEventQuery } from '@flags/core';
import { pause } from '../connection/errors.js';
import type { Database } from '../database.js';
import type { TableNames } from '../tables.js';
import { createReadEvents, type EventsAndFacts } from './events.js';
import { feedOffset } from './position.js';

/** Milliseconds between two reads. Most commits that hold events back end within them. */
const PAUSES = [4, 8, 16];
/** Milliseconds. The longest time for which a read of the feed delays new commits, if a running commit does not end. */
const LOCK_TIMEOUT = 100;
/** Milliseconds without another attempt after the lock was not available. While a read waits for it, commits wait behind. */
const LOCK_PAUSE = 2_000;

export interface FeedOptions {
  readonly database: Database;
  readonly names: TableNames;
  /** SQL: the key of the advisory lock that every commit holds as shared. */
  readonly commitLock: string;
}

/**
 * Reads events in an order that never changes behind a reader: by transaction id. Transactions end in another order than
 * their ids, so a read returns only settled events: those below the oldest running transaction.
 *
 * Any writing transaction of the whole server holds events back. If one runs longer than commits take, the read takes the
 * lock of all commits exclusively. Then no commit is running, and all visible events are settled.
 */
export function createFeed({
  database,
  names,
  commitLock,
}: FeedOptions): (query: StoredEventQuery) => Promise<EventPage> {
  const read = createReadEvents(database, names);
  const settled = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${feedOffset(names)}`;
  // A transaction that outlasted all pauses. Reads that meet it again do not wait for it.
  let longTransaction: string | null | undefined;
  let nextLock = 0;

  const readSettled = (query: StoredEventQuery): Promise<EventsAndFacts> =>
    read(query, {
      only: `commit_order < ${settled}`,
      facts: (matching) => [
        `${settled} AS settled`,
        `(SELECT commit_order FROM (SELECT commit_order FROM ${matching}) AS held
          WHERE commit_order >= ${settled} ORDER BY commit_order DESC LIMIT 1) AS held`,
        'pg_snapshot_xmin(pg_current_snapshot()) AS oldest',
        'pg_is_in_recovery() AS standby',
      ],
    });

  /** Returns undefined if the lock is not available in time. */
  async function readLocked(query: StoredEventQuery): Promise<EventPage | undefined> {
    const first = `SET LOCAL lock_timeout = ${LOCK_TIMEOUT}; SELECT pg_advisory_xact_lock(${commitLock})`;
    try {
      return await database.transaction(async (statements) => (await createReadEvents(statements, names)(query)).page, {
        first,
      });
    } catch (error) {
      if (isFlagsError(error) && error.code === 'storage_busy') return undefined;
      throw error;
    }
  }

  async function readFeed(query: StoredEventQuery): Promise<EventPage> {
    let found = await readSettled(query);
    const { held } = found.facts;
    for (const time of PAUSES) {
      if (isComplete(found, { query, held })) return found.page;
      if (found.facts.oldest === longTransaction) break;
      await pause(time);
      found = await readSettled(query);
    }
    // Locks on a standby do not stop commits on the primary.
    if (isComplete(found, { query, held }) || found.facts.standby === 't') return found.page;
    longTransaction = found.facts.oldest;
    if (performance.now() < nextLock) return found.page;
    const page = await readLocked(query);
    if (page === undefined) nextLock = performance.now() + LOCK_PAUSE;
    return page ?? found.page;
  }

  return async (query) => {
    if (query.order === 'oldest-first' || query.settled) return readFeed(query);
    return (await read(query)).page;
  };
}

interface FirstRead {
  readonly query: StoredEventQuery;
  /** The position of the newest event that was held back at the first read. */
  readonly held: string | null | undefined;
}

/** Whether the page misses no event that was visible at the first read. Later events belong to later reads. */
function isComplete({ page, facts }: EventsAndFacts, { query: { order, limit }, held }: FirstRead): boolean {
  if (typeof held !== 'string' || BigInt(facts.settled ?? 0) > BigInt(held)) return true;
  return order === 'oldest-first' && page.total === undefined && page.events.length >= limit;
}
