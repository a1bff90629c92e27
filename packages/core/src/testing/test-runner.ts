import assert from 'node:assert/strict';
import type { Awaitable } from '../common.types.js';
import type { MetricsStorage } from '../storage/metrics-port.js';
import type { Storage } from '../storage/port.js';

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

/**
 * Declares one rule of the port and how it is proven on an empty storage. `again` opens another instance on the same
 * data; where there can be none, as with memory, it gives the same one. `refuse` is undefined where nothing can fail.
 */
export type MetricsRule = (
  statement: string,
  body: (
    metrics: MetricsStorage,
    again: () => Promise<MetricsStorage>,
    refuse: ((flag: string) => Awaitable<void>) | undefined,
  ) => Promise<void>,
) => void;

/**
 * Declares one rule. `body` gets an empty storage, and a way to open another instance on the same data, which gives
 * undefined where there can be none.
 */
export type Rule = (
  statement: string,
  body: (storage: Storage, again: () => Promise<Storage | undefined>) => Promise<void>,
) => void;

/** Compares JSON values as data: drivers and test runners make objects in realms of their own, with other prototypes. */
export function assertSame(actual: unknown, expected: unknown): void {
  assert.deepEqual(asData(actual), asData(expected));
}

function asData(value: unknown): unknown {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}
