import type { Commit, EventPage, Storage } from '../../src/storage/port.js';

/** A real storage on which the first commits lose a race, as if another process had just changed the document. */
export function losingRaces(storage: Storage, races: number): Storage & { readonly commits: readonly Commit[] } {
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

/** A real storage whose reads of events go through the given function. */
export function withEvents(
  storage: Storage,
  events: (query: Parameters<Storage['events']>[0], read: () => Promise<EventPage>) => Promise<EventPage>,
): Storage {
  return { ...storage, events: (query) => events(query, async () => storage.events(query)) };
}
