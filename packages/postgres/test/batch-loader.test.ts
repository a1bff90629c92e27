import { createBatchLoader } from '../src/batches.js';

it("loads while a host's tests use fake timers", async () => {
  jest.useFakeTimers();
  const double = createBatchLoader(async (keys: readonly number[]) => (key) => 2 * key + keys.length);
  expect(await Promise.all([double(1), double(2)])).toEqual([4, 6]);
  jest.useRealTimers();
});
