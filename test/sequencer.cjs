// The order of the test files: those that take longest by waiting, for the clock or for processes of their own, begin first.
// By size, as without a cache, they would begin last, and one worker would wait for them alone.
const { createRequire } = require('node:module');

const jestConfig = ['@jest/core', 'jest-config'].reduce(
  (from, name) => createRequire(from).resolve(name),
  require.resolve('jest'),
);
const { default: Sequencer } = createRequire(jestConfig)('@jest/test-sequencer');

const LONG = [
  'packages/cli/test/container.full.test.ts',
  'packages/http/test/browser/quiet-minute.full.test.ts',
  'packages/core/test/invariants/operations.test.ts',
];

const isLong = ({ path }) => LONG.some((name) => path.endsWith(name));

module.exports = class extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
};
