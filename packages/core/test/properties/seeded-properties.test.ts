import fc, { readConfigureGlobal, sample, string } from 'fast-check';
import { createRandom, SEED } from '../../../../test/seed.js';

it('tries the same inputs in every run with one seed', () => {
  expect(readConfigureGlobal().seed).toBe(SEED);
  expect(fc.readConfigureGlobal().seed).toBe(SEED);
  expect(sample(string(), 20)).toEqual(sample(string(), { numRuns: 20, seed: SEED }));
});

it('draws the same numbers from every source, spread over 0 to 1', () => {
  const [one, other] = [createRandom(), createRandom()];
  const drawn = Array.from({ length: 1_000 }, one);
  expect(Array.from({ length: 1_000 }, other)).toEqual(drawn);
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...drawn)).toBeLessThan(1);
  expect(new Set(drawn).size).toBeGreaterThan(990);
});
