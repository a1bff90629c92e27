import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';

/** Callers check the clock between steps, so a slice may last one step longer. */
const SLICE_MS = 10;

const waiting: (() => void)[] = [];
let startedAt: number | undefined;

/**
 * Splits long synchronous work into slices, so that timers and other requests can run in between. All work of this
 * process shares one slice per turn of the event loop, so concurrent requests do not prolong a turn.
 *
 * @example
 * for (const item of items) {
 *   if (timeSlice.isOver()) await timeSlice.next();
 *   handle(item);
 * }
 */
export const timeSlice = {
  /** Whether this turn's slice is used up. The first call of a turn starts the slice. */
  isOver(): boolean {
    const now = performance.now();
    if (startedAt !== undefined) return now - startedAt > SLICE_MS;
    startedAt = now;
    setImmediate(() => {
      startedAt = undefined;
    });
    return false;
  },

  /**
   * Resolves in a later turn of the event loop, one caller per turn, in the order of the calls. Rejects with the reason of
   * the signal if it has aborted by then.
   */
  async next(signal?: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      if (waiting.length === 1) setImmediate(admitNext);
    });
    signal?.throwIfAborted();
  },
};

function admitNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(admitNext);
}

/** The length of the lists that are sorted at once. */
const RUN_LENGTH = 1024;

/** Returns the items in order: sorts short runs, then joins pairs of runs, which the engine merges in linear time. */
export async function sortInSlices<Item>(
  items: readonly Item[],
  compare: (one: Item, other: Item) => number,
): Promise<readonly Item[]> {
  let runs: (readonly Item[])[] = [];
  for (let first = 0; first < items.length; first += RUN_LENGTH) {
    if (timeSlice.isOver()) await timeSlice.next();
    runs.push(items.slice(first, first + RUN_LENGTH).sort(compare));
  }
  while (runs.length > 1) {
    const joined: (readonly Item[])[] = [];
    for (let at = 0; at < runs.length; at += 2) {
      if (timeSlice.isOver()) await timeSlice.next();
      joined.push([...(runs[at] ?? []), ...(runs[at + 1] ?? [])].sort(compare));
    }
    runs = joined;
  }
  return runs[0] ?? [];
}
