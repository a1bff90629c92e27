import { type EventPage, isFlagsError, type StoredEventQuery } from '@flags/core';
import { pause } from '../connection/retries.js';
import type { Database } from '../database.js';
import type { TableNames } from '../schema/table-names.js';
import { createReadEvents, type EventsAndFacts } from './events.js';
import type { Feed } from './feed.js';
import { feedOffset, snapshotOrder } from './snapshot-order.js';

/** Milliseconds. Commits take a few: most that hold events back have ended after these. */
const PAUSES = [2, 4, 8];
/** Milliseconds in which no commit can begin, at most, when one of them does not end. */
const LOCK_TIMEOUT = 100;

interface Surroundings {
  readonly database: Database;
  readonly names: TableNames;
  /** The lock that commits share, as a number in SQL. */
  readonly commitLock: string;
}

/**
 * Gives events below the oldest transaction that is still running: nothing can come before them any more. Any writing
 * transaction of the whole server holds events back in this way, for as long as it runs. Where that lasts longer than commits
 * take, the feed takes the lock that commits share: then none is under way, and everything that there is can be given.
 */
export function snapshotFeed({ database, names, commitLock }: Surroundings): Feed {
  const read = createReadEvents(database, names);
  const settled = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${feedOffset(names)}`;
  // The transaction that was found to last; whoever meets it again does not wait for it.
  let lasting: string | null | undefined;

  const readSettled = (query: StoredEventQuery): Promise<EventsAndFacts> =>
    read(query, {
      only: `commit_order < ${settled}`,
      facts: (matching) => [
        `EXISTS (SELECT FROM (SELECT commit_order FROM ${matching}) AS held WHERE commit_order >= ${settled}) AS held`,
        'pg_snapshot_xmin(pg_current_snapshot()) AS oldest',
        'pg_is_in_recovery() AS standby',
      ],
    });

  /** Undefined when the lock is not to be had soon. */
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

  async function query(query: StoredEventQuery): Promise<EventPage> {
    let found = await readSettled(query);
    for (const time of PAUSES) {
      if (isComplete(found, query)) return found.page;
      if (found.facts.oldest === lasting) break;
      await pause(time);
      found = await readSettled(query);
    }
    // The locks of a standby are its own: they do not keep commits from arriving.
    if (isComplete(found, query) || found.facts.standby === 't') return found.page;
    lasting = found.facts.oldest;
    return (await readLocked(query)) ?? found.page;
  }

  return {
    order: snapshotOrder(names, commitLock),
    query: (asked) =>
      asked.order === 'oldest-first' || asked.settled ? query(asked) : read(asked).then(({ page }) => page),
  };
}

function isComplete({ page, facts }: EventsAndFacts, { order, limit }: StoredEventQuery): boolean {
  return facts.held !== 't' || (order === 'oldest-first' && page.total === undefined && page.events.length >= limit);
}
