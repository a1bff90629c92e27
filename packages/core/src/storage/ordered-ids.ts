import { lowerBound } from '../collections.js';

/** Maximum length of a run, and so of the ids that one insertion moves. */
const LONGEST_RUN = 512;

/** A set of ids in code-point order. */
export interface OrderedIds {
  /** The id must not be in the set. */
  add(id: string): void;
  remove(id: string): void;
  /** Returns at most `limit` ids that are greater than `id`. Undefined: no limit; from the first id. */
  after(id: string | undefined, limit: number | undefined): readonly string[];
}

/** Stores the ids in sorted runs: an insertion into one list of 100,000 ids would move half of them. */
export function createOrderedIds(): OrderedIds {
  const runs: string[][] = [];

  /** Returns the index of the run for an id: the last run that does not begin after it. */
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

/** Returns the index of the first id that is greater than `id`. */
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
