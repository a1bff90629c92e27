/** The two functions that jest, vitest (with `globals`), mocha and others offer globally. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: (this: unknown) => Promise<void>, timeout?: number): unknown;
}

/** Enough for the longest race on a slow disk, in milliseconds; runners' own limits are made for shorter tests. */
export const CASE_TIMEOUT = 120_000;

/** The runner that is executing the calling test file. */
export function currentTestRunner(): TestRunner {
  const { describe, it } = globalThis as Partial<TestRunner>;
  if (typeof describe === 'function' && typeof it === 'function') return { describe, it };
  throw new Error('No global describe and it. Run this file with a test runner that offers them, such as jest.');
}

/** Raises mocha's limit from inside the test, where alone it can be set; does nothing under other runners. */
export function raiseMochaTimeout(context: unknown): void {
  const { timeout } = (context ?? {}) as { timeout?: unknown };
  if (typeof timeout === 'function') timeout.call(context, CASE_TIMEOUT);
}
