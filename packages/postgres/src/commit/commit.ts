import type { CommitResult, DocumentKey, PreparedCommit } from '@flags/core';
import type { Database, Statements } from '../database.js';
import type { KnownPlaces } from '../feed/known-places.js';
import { type CommitBatch, type CommitTables, commitBatch, type Done } from './commit-batch.js';
import type { Outcomes } from './outcome.js';

export interface CommitParts extends CommitTables {
  readonly database: Database;
  readonly outcomes: Outcomes | undefined;
  readonly places: KnownPlaces;
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
        if (isSuspect(done)) await requireSoundPlaces(statements, { done, parts });
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
async function requireSoundPlaces(
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
