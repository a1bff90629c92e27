import { type EventPage, isFlagsError, type StoredEventQuery } from '@flags/core';
import { pause } from '../connection/errors.js';
import type { Database } from '../database.js';
import type { TableNames } from '../tables.js';
import { createReadEvents, type EventsAndFacts, parsePosition } from './events.js';
import type { Feed } from './feed.js';
import { feedOffset, snapshotOrder } from './order.js';

/** Milliseconds. Commits take a few: most that hold events back have ended after these. */
const PAUSES = [4, 8, 16];
/** Milliseconds in which no commit can begin, at most, when one of them does not end. */
const LOCK_TIMEOUT = 100;
/** Milliseconds after a lock was not to be had. While a look waits for it, every commit waits behind that look. */
const LOCK_PAUSE = 2_000;

interface Surroundings {
  readonly database: Database;
  readonly names: TableNames;
  /** The lock that commits share, as a number in SQL. */
  readonly commitLock: string;
  readonly places: KnownPositions;
}

/**
 * Gives events below the oldest transaction that is still running: nothing can come before them any more. Any writing
 * transaction of the whole server holds events back in this way, for as long as it runs. Where that lasts longer than commits
 * take, the feed takes the lock that commits share: then none is under way, and everything that there is can be given.
 */
export function snapshotFeed({ database, names, commitLock, places }: Surroundings): Feed {
  const read = createReadEvents(database, names);
  const settled = `pg_snapshot_xmin(pg_current_snapshot())::text::bigint + ${feedOffset(names)}`;
  // The transaction that was found to last; whoever meets it again does not wait for it.
  let lasting: string | null | undefined;
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
    const { held } = found.facts;
    for (const time of PAUSES) {
      if (isComplete(found, { query, held })) return found.page;
      if (found.facts.oldest === lasting) break;
      await pause(time);
      found = await readSettled(query);
    }
    // The locks of a standby are its own: they do not keep commits from arriving.
    if (isComplete(found, { query, held }) || found.facts.standby === 't') return found.page;
    lasting = found.facts.oldest;
    if (performance.now() < nextLock) return found.page;
    const everything = await readLocked(query);
    if (everything === undefined) nextLock = performance.now() + LOCK_PAUSE;
    return everything ?? found.page;
  }

  return {
    order: snapshotOrder(names, commitLock),
    async query(asked) {
      const isFeed = asked.order === 'oldest-first' || asked.settled;
      const page = isFeed ? await query(asked) : (await read(asked)).page;
      for (const event of [page.events[0], page.events.at(-1)]) {
        if (event) places.see(parsePosition(event.position).commitOrder);
      }
      return page;
    },
  };
}

interface Asked {
  readonly query: StoredEventQuery;
  /** The place of the newest event that was held back when it was asked. */
  readonly held: string | null | undefined;
}

/** Whether nothing is missing that there was when it was asked. What has been committed since has a reader of its own. */
function isComplete({ page, facts }: EventsAndFacts, { query: { order, limit }, held }: Asked): boolean {
  if (typeof held !== 'string' || BigInt(facts.settled ?? 0) > BigInt(held)) return true;
  return order === 'oldest-first' && page.total === undefined && page.events.length >= limit;
}

/**
 * What a node knows of the places in the feed: where they come from, and the newest that it has seen. By that a commit tells
 * without a look at the table that its own place is behind all others.
 */
export interface KnownPositions {
  /** A place that an event has. */
  see(place: string): void;
  /** Takes what is known now, for a commit that begins now. Gives what tells whether its place must be looked at. */
  begin(): (commit: PlacedCommit) => boolean;
  /** All is well with the places of this source. */
  trust(commit: PlacedCommit): void;
}

export interface PlacedCommit {
  /** Where the place comes from; undefined where it cannot be wrong. */
  readonly source: string | undefined;
  /** Undefined where the commit has no event. */
  readonly place: string | undefined;
}

export function createKnownPositions(): KnownPositions {
  let trusted: string | undefined;
  let newest = -1n;

  function see(place: string): void {
    const seen = BigInt(place);
    if (seen > newest) newest = seen;
  }

  return {
    see,
    begin() {
      const before = newest;
      return ({ source, place }) =>
        source !== undefined && place !== undefined && (source !== trusted || BigInt(place) <= before);
    },
    trust({ source, place }) {
      trusted = source;
      // A server that has taken over may not have heard of the newest.
      newest = BigInt(place ?? newest);
    },
  };
}
