/**
 * The seed of all random inputs of a run: 1 for `npm test`, and another number in each run of `npm run test:full`,
 * which prints it. `npm run test:full -- --seed=…` repeats a run.
 */
export const SEED = Number(process.env.FLAGS_SEED ?? 1);

/** A source of random numbers from 0 to 1, like `Math.random`, with the seed {@link SEED} (mulberry32). */
export function createRandom(): () => number {
  let state = SEED;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
