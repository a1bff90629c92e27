import type { Commit, FlagsStorage } from '../../src/storage/port.js';

/** A real storage on which the first commits lose a race, as if another process had just changed the document. */
export function losingRaces(
  storage: FlagsStorage,
  races: number,
): FlagsStorage & { readonly commits: readonly Commit[] } {
  const commits: Commit[] = [];
  return {
    ...storage,
    commits,
    async commit(commit) {
      commits.push(commit);
      const conflict = commit.writes[0]?.key;
      return commits.length <= races && conflict ? { ok: false, conflict } : storage.commit(commit);
    },
  };
}
