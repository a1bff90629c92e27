// Runs the tests in full: more rounds, other random inputs in each run, and the files named *.full.test.ts.
//
//   npm run test:full                                   all tests, about an hour on two cores
//   npm run test:full -- packages/core/test/storage     only this folder
//   npm run test:full -- --seed=1234 invariants         with the random inputs of an earlier run, which has printed its seed
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';

const SEED = '--seed=';
const given = process.argv.slice(2);
const seed = given.find((option) => option.startsWith(SEED))?.slice(SEED.length) ?? String(randomInt(2 ** 31));
const options = given.filter((option) => !option.startsWith(SEED));

console.error(`--seed=${seed}`);
const { status } = spawnSync('node_modules/.bin/jest', ['--testTimeout=600000', ...options], {
  stdio: 'inherit',
  env: { ...process.env, FLAGS_TESTS: 'full', FLAGS_SEED: seed },
});
process.exitCode = status ?? 1;
