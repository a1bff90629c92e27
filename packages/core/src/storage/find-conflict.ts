import type { DocumentKey, Vacancy } from './port.js';
import type { PreparedCommit, PreparedWrite } from './prepared-commit.js';

/** What is stored, as seen by one that holds the lock. */
export interface CurrentState {
  /** The document's revision; 0 when there is none or it was deleted. */
  revision(key: DocumentKey): number;
  /** The first ids, at most `limit`, of the existing documents of the kind under the parent. */
  firstIds(vacancy: Vacancy, limit: number): readonly string[];
}

/** The first document that keeps the commit from happening: moved since it was read, or in the way of a vacancy. */
export function findConflict(commit: PreparedCommit, state: CurrentState): DocumentKey | undefined {
  const moved = ({ key, expected }: { key: DocumentKey; expected: number }) => state.revision(key) !== expected;
  const conflict = commit.writes.find(moved) ?? commit.checks.find(moved);
  if (conflict) return conflict.key;
  for (const vacancy of commit.vacant) {
    const occupant = findOccupant(vacancy, commit.writes, state);
    if (occupant) return occupant;
  }
  return undefined;
}

/** Looks through the commit's own writes, so that nothing has to be undone when the vacancy does not hold. */
function findOccupant(
  { kind, parent }: Vacancy,
  writes: readonly PreparedWrite[],
  state: CurrentState,
): DocumentKey | undefined {
  const own = writes.filter(({ key }) => key.kind === kind);
  const put = own.find((write) => write.content !== null && write.parent === parent);
  if (put) return put.key;
  const replaced = new Set(own.map(({ key }) => key.id));
  const id = state.firstIds({ kind, parent }, replaced.size + 1).find((found) => !replaced.has(found));
  return id === undefined ? undefined : { kind, id };
}
