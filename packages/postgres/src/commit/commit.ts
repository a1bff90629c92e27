import type { CommitResult, DocumentKey } from '@flags/core';
import type { PreparedCommit } from '@flags/core/integration';
import { pause, sqlState } from '../connection/errors.js';
import { type Database, outcomeUnknown, type Statements } from '../database.js';
import type { KnownPositions } from '../feed/snapshot-feed.js';
import { type TableNames, toStoredText } from '../tables.js';
import { type CommitBatch, type CommitTables, commitBatch, type Done } from './commit-batch.js';
import { toStoredKey } from './statements.js';

export interface CommitParts extends CommitTables {
  readonly database: Database;
  readonly outcomes: Outcomes | undefined;
  readonly places: KnownPositions;
  /** Puts the feed right on a server that gives other transaction ids than the one the events came from. */
  readonly placeFeed: () => Promise<void>;
}

/** Carries a commit out in one transaction, in two round trips: all statements together with its beginning, and its end. */
export async function carryOut(commit: PreparedCommit, parts: CommitParts): Promise<CommitResult> {
  const { database, outcomes, places } = parts;
  const batch = commitBatch(commit, parts);
  const isSuspect = places.begin();
  try {
    const { revisions } = await database.transaction<Done>(
      async (statements, answers) => {
        const done = judge(batch.read(answers));
        if (isSuspect(done)) await assertPositions(statements, { done, parts });
        return done;
      },
      { first: batch.text, findOutcome: outcomes && ((done) => outcomes.find({ ...done, commit })) },
    );
    return { ok: true, revisions };
  } catch (error) {
    if (error instanceof Conflict) return { ok: false, conflict: error.key };
    if (!(error instanceof MisplacedFeed)) throw error;
    await parts.placeFeed();
    return carryOut(commit, parts);
  }
}

/** Events may have a place that this server has yet to give: then the feed must be put right before any is added. */
async function assertPositions(
  statements: Statements,
  { done, parts: { order, places } }: { readonly done: Done; readonly parts: CommitParts },
): Promise<void> {
  if (!order.look || done.place === undefined) return;
  const [found] = await statements.query<{ readonly misplaced: string }>(order.look(done.place));
  if (found?.misplaced === 't') throw new MisplacedFeed();
  places.trust(done);
}

/** Thrown to leave the transaction, which is then rolled back. */
class Conflict extends Error {
  constructor(readonly key: DocumentKey) {
    super('A document had moved.');
  }
}

class MisplacedFeed extends Error {}

function judge(read: ReturnType<CommitBatch['read']>): Done {
  if ('conflict' in read) throw new Conflict(read.conflict);
  return read;
}

/** Finds out what became of a commit whose answer was lost. */
export interface Outcomes {
  /** True: it was committed; false: it was not, and never will be. Fails with `outcome_unknown`. */
  find(commit: LostCommit): Promise<boolean>;
}

export interface LostCommit {
  readonly transaction: string | undefined;
  /** Ids of its events. */
  readonly events: readonly string[];
  readonly commit: PreparedCommit;
}

/** Milliseconds to wait before asking again. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 500;

/** Asks the database itself, on another connection, until it knows or `time` (milliseconds) has passed. */
export function createOutcomes(options: {
  readonly database: Database;
  readonly names: TableNames;
  readonly time: number;
}): Outcomes {
  const { database, names, time } = options;

  async function ask(lost: LostCommit): Promise<boolean | undefined> {
    const status = await readStatus(database, lost.transaction);
    if (status === 'aborted') return false;
    return status === 'committed' ? isThere(lost) : undefined;
  }

  /**
   * After a failover to a server that has not heard of the commit, its id is given again to another transaction. The
   * first event tells whose it is.
   */
  async function isThere({ events, commit }: LostCommit): Promise<boolean> {
    const [event] = commit.events;
    if (!event) return true;
    const subject = toStoredKey(event.subject);
    const rows = await database.query(
      `SELECT 1 FROM ${names.table('events')} WHERE subject_kind = $1 AND subject_id = $2 AND id = $3 AND at = $4 AND data = $5`,
      [subject.kind, subject.id, events[0], toStoredText(event.at), event.data],
    );
    return rows.length > 0;
  }

  return {
    async find(lost) {
      const deadline = performance.now() + time;
      let failure: unknown;
      for (let longest = FIRST_PAUSE; ; longest = Math.min(2 * longest, LONGEST_PAUSE)) {
        try {
          const answer = await ask(lost);
          if (answer !== undefined) return answer;
        } catch (error) {
          failure = error;
        }
        if (performance.now() > deadline) throw outcomeUnknown(failure);
        await pause(longest * (0.5 + Math.random() / 2));
      }
    },
  };
}

/** A transaction id that the server has not given yet: it has taken over from one that had. */
const NOT_GIVEN_YET = '22023';

/** A standby cannot tell: it may only not have heard yet. */
async function readStatus(database: Database, transaction: string | undefined): Promise<string | null | undefined> {
  try {
    const [row] = await database.query<{ readonly status: string | null }>(
      'SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_xact_status($1::text::xid8) END AS status',
      [transaction],
    );
    return row?.status;
  } catch (error) {
    if (sqlState(error) === NOT_GIVEN_YET) return 'aborted';
    throw error;
  }
}
