import { lowerBound } from '../collections.js';

/** So many ids are moved at most to make room for one. */
const LONGEST_RUN = 512;

/** Ids in code-point order. */
export interface OrderedIds {
  /** The id must not be among them. */
  add(id: string): void;
  remove(id: string): void;
  /** At most `limit`, all when it is undefined, that come after an id; from the first when that is undefined. */
  after(id: string | undefined, limit: number | undefined): readonly string[];
}

/** Keeps them in runs, one after the other: adding one among 100,000 to a single list moves half of it. */
export function createOrderedIds(): OrderedIds {
  const runs: string[][] = [];

  /** The run that an id is in, or belongs in: the last one that does not begin after it. */
  function runFor(id: string): number {
    const next = lowerBound(runs, id, firstOf);
    const begins = runs[next]?.[0] === id;
    return begins ? next : Math.max(next - 1, 0);
  }

  return {
    add(id) {
      const at = runFor(id);
      const run = runs[at];
      if (!run) return void runs.push([id]);
      run.splice(lowerBound(run, id, itself), 0, id);
      if (run.length > LONGEST_RUN) runs.splice(at + 1, 0, run.splice(LONGEST_RUN / 2));
    },
    remove(id) {
      const at = runFor(id);
      const run = runs[at];
      const place = run ? lowerBound(run, id, itself) : 0;
      if (run?.[place] !== id) return;
      run.splice(place, 1);
      if (run.length === 0) runs.splice(at, 1);
    },
    after(id, limit = Number.POSITIVE_INFINITY) {
      const first = id === undefined ? 0 : runFor(id);
      const found: string[] = [];
      for (let at = first; at < runs.length && found.length < limit; at++) {
        const run = runs[at] ?? [];
        const start = id === undefined || at > first ? 0 : placeAfter(run, id);
        for (let place = start; place < run.length && found.length < limit; place++) found.push(run[place] ?? '');
      }
      return found;
    },
  };
}

/** The index of the first id that comes after `id`. */
function placeAfter(ids: readonly string[], id: string): number {
  const place = lowerBound(ids, id, itself);
  return ids[place] === id ? place + 1 : place;
}

function firstOf([first = '']: readonly string[]): string {
  return first;
}

function itself(id: string): string {
  return id;
}
