import assert from 'node:assert/strict';
import type { Awaitable } from '../base/common.types.js';
import type { Storage } from '../storage/port.js';
import type { UsageStorage } from '../storage/usage-port.js';

/** The global functions of jest, mocha, vitest (with `globals`) and others. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: (this: unknown) => Promise<void>, timeout?: number): unknown;
}

/** Time-out of a rule in milliseconds: enough for the longest race on a slow disk. */
export const CASE_TIMEOUT = 120_000;

/** Returns the test runner of the calling test file. Throws if there is none. */
export function currentTestRunner(): TestRunner {
  const { describe, it } = globalThis as Partial<TestRunner>;
  if (typeof describe === 'function' && typeof it === 'function') return { describe, it };
  throw new Error('No global describe and it. Run this file with a test runner that provides them, such as jest.');
}

/** Raises mocha's time-out, which can only be set inside the test. Does nothing with other runners. */
export function raiseMochaTimeout(context: unknown): void {
  const { timeout } = (context ?? {}) as { timeout?: unknown };
  if (typeof timeout === 'function') timeout.call(context, CASE_TIMEOUT);
}

/**
 * Declares one rule of the usage port, and its test on an empty storage. `again` opens another instance on the same data, or
 * returns the same instance if there can be only one. `refuse` is undefined if no write can fail.
 */
export type UsageRule = (
  statement: string,
  body: (
    usage: UsageStorage,
    again: () => Promise<UsageStorage>,
    refuse: ((flag: string) => Awaitable<void>) | undefined,
  ) => Promise<void>,
) => void;

/**
 * Declares one rule of the storage port, and its test on an empty storage. `again` opens another instance on the same data,
 * or returns undefined if there can be only one.
 */
export type StorageRule = (
  statement: string,
  body: (storage: Storage, again: () => Promise<Storage | undefined>) => Promise<void>,
) => void;

/** Asserts that two values have the same JSON. Drivers create objects in another realm, with other prototypes. */
export function assertSame(actual: unknown, expected: unknown): void {
  assert.deepEqual(asData(actual), asData(expected));
}

function asData(value: unknown): unknown {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}
