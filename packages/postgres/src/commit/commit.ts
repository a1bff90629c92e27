import type { CommitResult, DocumentKey } from '@flags/core';
import type { PreparedCommit } from '@flags/core/integration';
import { pause, sqlState } from '../connection/errors.js';
import { type Database, outcomeUnknown } from '../database.js';
import { type TableNames, toStoredText } from '../tables.js';
import { type CommitAnswer, type CommitTables, commitBatch, type WrittenCommit } from './commit-batch.js';
import { toStoredKey } from './statements.js';

export interface CommitParts extends CommitTables {
  readonly database: Database;
  readonly outcomes: Outcomes;
}

/** Runs a commit in one transaction and two round trips: BEGIN with all statements, then COMMIT. */
export async function runCommit(commit: PreparedCommit, parts: CommitParts): Promise<CommitResult> {
  const { database, outcomes } = parts;
  const batch = commitBatch(commit, parts);
  try {
    const { revisions } = await database.transaction<WrittenCommit>(
      async (_, answers) => assertNoConflict(batch.read(answers)),
      { first: batch.text, findOutcome: (written) => outcomes.find({ ...written, commit }) },
    );
    return { ok: true, revisions };
  } catch (error) {
    if (error instanceof Conflict) return { ok: false, conflict: error.key };
    throw error;
  }
}

/** Thrown within the transaction, to have it rolled back. */
class Conflict extends Error {
  constructor(readonly key: DocumentKey) {
    super('A document has another revision.');
  }
}

function assertNoConflict(answer: CommitAnswer): WrittenCommit {
  if ('conflict' in answer) throw new Conflict(answer.conflict);
  return answer;
}

/** Finds the outcome of a commit whose answer was lost. */
export interface Outcomes {
  /** Returns true if it was committed, false if it never will be. Fails with `outcome_unknown`. */
  find(commit: LostCommit): Promise<boolean>;
}

export interface LostCommit {
  readonly transaction: string | undefined;
  /** Ids of its events. */
  readonly events: readonly string[];
  readonly commit: PreparedCommit;
}

/** Milliseconds between two attempts. */
const FIRST_PAUSE = 20;
const LONGEST_PAUSE = 500;

/** Asks the database on another connection, until it answers or `time` (milliseconds) has passed. */
export function createOutcomes(options: {
  readonly database: Database;
  readonly names: TableNames;
  readonly time: number;
}): Outcomes {
  const { database, names, time } = options;

  async function ask(lost: LostCommit): Promise<boolean | undefined> {
    const status = await readStatus(database, lost.transaction);
    if (status === 'aborted') return false;
    return status === 'committed' ? hasFirstEvent(lost) : undefined;
  }

  /**
   * Guards against a failover to a server that never received the commit: it gives the same id to another transaction.
   * Then the first event is missing.
   */
  async function hasFirstEvent({ events, commit }: LostCommit): Promise<boolean> {
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

/** SQLSTATE for a transaction id that the server has not given yet: it has taken over from a server that had. */
const NOT_GIVEN_YET = '22023';

/** Undefined or null on a standby: it may not have received the commit yet. */
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
