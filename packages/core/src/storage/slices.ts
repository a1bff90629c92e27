import type { Awaitable } from '../common.types.js';

/** Does a part of long work, of a few milliseconds, and tells whether more is left. */
export type SlicedWork = () => boolean;

/** How many rows one slice reads or drops at most. */
export const SLICE_ROWS = 500;
/** How long a slice without a number of rows works, in milliseconds. */
const SLICE_TIME = 4;

/** Runs work slice by slice, each through `run`. */
export async function runSlices(work: SlicedWork, run: (slice: SlicedWork) => Awaitable<boolean>): Promise<void> {
  while (await run(work));
}

/** Work that visits every item; the collection may change meanwhile. */
export function visitInSlices<Item>(items: Iterable<Item>, visit: (item: Item) => void): SlicedWork {
  const iterator = items[Symbol.iterator]();
  return repeatInSlices(() => {
    const { done, value } = iterator.next();
    if (!done) visit(value);
    return !done;
  });
}

/** Work that repeats a step until it tells that nothing is left. */
export function repeatInSlices(step: () => boolean): SlicedWork {
  return () => {
    const end = performance.now() + SLICE_TIME;
    while (performance.now() < end) if (!step()) return false;
    return true;
  };
}
