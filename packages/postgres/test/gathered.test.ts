import { createBatchLoader } from '../src/batch-loader.js';

it("a look-up is made while a host's tests stop the timers", async () => {
  jest.useFakeTimers();
  const double = createBatchLoader(async (keys: readonly number[]) => (key) => 2 * key + keys.length);
  expect(await Promise.all([double(1), double(2)])).toEqual([4, 6]);
  jest.useRealTimers();
});
