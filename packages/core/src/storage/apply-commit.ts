import { type CurrentState, findConflict } from './find-conflict.js';
import type { CommitResult } from './port.js';
import type { PreparedCommit, PreparedEvent, PreparedWrite } from './prepared-commit.js';

/** Where a commit is applied, by one that holds the lock on all of it. */
export interface CommitTarget {
  readonly documents: CurrentState & {
    /** Writes without looking at what is expected, and gives the new revision. */
    write(write: PreparedWrite): number;
  };
  readonly events: {
    /** `revisions` are those of the commit's writes. */
    append(events: readonly PreparedEvent[], revisions: readonly number[]): void;
  };
}

/** Checks first and writes afterwards, so that a lost race leaves nothing to undo. */
export function applyCommit(commit: PreparedCommit, { documents, events }: CommitTarget): CommitResult {
  const conflict = findConflict(commit, documents);
  if (conflict) return { ok: false, conflict };
  const revisions = commit.writes.map((write) => documents.write(write));
  events.append(commit.events, revisions);
  return { ok: true, revisions };
}
