import type { Awaitable } from '../base/common.types.js';

/** Does a few milliseconds of long work. Returns whether more is left. */
export type SlicedWork = () => boolean;

/** Maximum number of rows that one slice reads or deletes. */
export const SLICE_ROWS = 500;
/** Duration of a slice that does not count rows, in milliseconds. */
const SLICE_TIME = 4;

/** Runs work slice by slice; `run` decides where and when each slice runs. */
export async function runSlices(work: SlicedWork, run: (slice: SlicedWork) => Awaitable<boolean>): Promise<void> {
  while (await run(work));
}

/** Visits every item in slices. The collection may change between slices. */
export function visitInSlices<Item>(items: Iterable<Item>, visit: (item: Item) => void): SlicedWork {
  const iterator = items[Symbol.iterator]();
  return repeatInSlices(() => {
    const { done, value } = iterator.next();
    if (!done) visit(value);
    return !done;
  });
}

/** Repeats a step in slices until it returns false. */
export function repeatInSlices(step: () => boolean): SlicedWork {
  return () => {
    const end = performance.now() + SLICE_TIME;
    while (performance.now() < end) if (!step()) return false;
    return true;
  };
}
