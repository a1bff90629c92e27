import type { PreparedCommit } from '@flags/core/integration/postgres';
import type { CommitResult } from '@flags/core/storage';
import { sqlState } from '../connection/errors.js';
import { bumpVersionShard } from '../data-version.js';
import { type Database, untilAnswered } from '../database.js';
import { toStoredText } from '../tables.js';
import { type CommitTables, Conflict, commitBatch, type WrittenCommit } from './commit-batch.js';
import { toStoredKey } from './statements.js';

export interface CommitParts extends CommitTables {
  readonly database: Database;
  /** Milliseconds within which the outcome of a commit must be found after its answer was lost. */
  readonly outcomeTimeout: number;
}

/** Runs a commit in one transaction and two round trips: BEGIN with all statements, then COMMIT. */
export async function runCommit(commit: PreparedCommit, parts: CommitParts): Promise<CommitResult> {
  const { database, outcomeTimeout } = parts;
  const findOutcome = (written: WrittenCommit) => {
    return untilAnswered(outcomeTimeout, () => wasCommitted({ ...written, commit }, parts));
  };
  const batch = commitBatch(commit, parts);
  try {
    const { revisions } = await database.transaction<WrittenCommit>(async (_, answers) => batch.read(answers), {
      first: batch.text,
      findOutcome,
    });
    return { ok: true, revisions };
  } catch (error) {
    if (error instanceof Conflict) return { ok: false, conflict: error.key };
    throw error;
  }
}

interface LostCommit extends WrittenCommit {
  readonly commit: PreparedCommit;
}

/** Whether a commit whose answer was lost has happened. Undefined while that is unknown. */
async function wasCommitted(lost: LostCommit, { database, names }: CommitParts): Promise<boolean | undefined> {
  const status = await readStatus(database, lost.transaction);
  if (status === 'aborted') return false;
  if (status !== 'committed') return undefined;
  /** A server that restarts shows commits that no synchronous standby has yet. A later commit waits for the standby. */
  async function isReplicated(): Promise<true> {
    await database.write({ text: bumpVersionShard(names), values: [] });
    return true;
  }

  const [event] = lost.commit.events;
  if (!event) return isReplicated();
  // After a failover, a server that never received the commit gives its id to another transaction. The event is missing then.
  const subject = toStoredKey(event.subject);
  const rows = await database.query(
    `SELECT 1 FROM ${names.table('events')} WHERE subject_kind = $1 AND subject_id = $2 AND id = $3 AND at = $4 AND data = $5`,
    [subject.kind, subject.id, lost.events[0], toStoredText(event.at), event.data],
  );
  return rows.length > 0 && isReplicated();
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
