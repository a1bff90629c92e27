/** Whether this is the long form of the tests, `npm run test:full`. */
export const isFull = process.env.FLAGS_TESTS === 'full';

/**
 * The value for this run of the fault tests: `full` under `npm run test:full`, else `short`.
 *
 * In full, a test does all that it does in short: `.ci/run` runs no file in both extents.
 *
 * @example
 * const ROUNDS = extent({ short: 5, full: 100 });
 */
export function extent<T>({ short, full }: { readonly short: T; readonly full: T }): T {
  return isFull ? full : short;
}

/** Declares a test for the full form only. A shorter test covers the same feature in the short form. */
export function inFull(name: string, run: () => Promise<void>): void {
  if (isFull) it(name, run);
}
