import type { CommitResult, DocumentKey, PreparedCommit } from '@flags/core';
import type { Database } from '../database.js';
import { type CommitBatch, type CommitTables, commitBatch, type Done } from './commit-batch.js';
import type { Outcomes } from './outcome.js';

export interface CommitParts extends CommitTables {
  readonly database: Database;
  readonly outcomes: Outcomes | undefined;
  /** Puts the feed right on a server that gives other transaction ids than the one the events came from. */
  readonly placeFeed: () => Promise<void>;
}

/** Carries a commit out in one transaction, in two round trips: all statements together with its beginning, and its end. */
export async function carryOut(commit: PreparedCommit, parts: CommitParts): Promise<CommitResult> {
  const { database, outcomes } = parts;
  const batch = commitBatch(commit, parts);
  try {
    const { revisions } = await database.transaction<Done>(async (_statements, answers) => judge(batch.read(answers)), {
      first: batch.text,
      findOutcome: outcomes && ((done) => outcomes.find({ ...done, commit })),
    });
    return { ok: true, revisions };
  } catch (error) {
    if (error instanceof Conflict) return { ok: false, conflict: error.key };
    if (!(error instanceof MisplacedFeed)) throw error;
    await parts.placeFeed();
    return carryOut(commit, parts);
  }
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
  if ('misplaced' in read) throw new MisplacedFeed();
  return read;
}
