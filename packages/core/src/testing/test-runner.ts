import assert from 'node:assert/strict';
import type { Awaitable } from '../base/common.types.js';

/** The global functions of jest, mocha, vitest (with `globals`) and others. */
interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: (this: unknown) => Promise<void>, timeout?: number): unknown;
}

/** Time-out of a rule in milliseconds: enough for the longest race on a slow disk. */
const CASE_TIMEOUT = 120_000;

/** Returns the test runner of the calling test file. Throws if there is none. */
function currentTestRunner(): TestRunner {
  const { describe, it } = globalThis as Partial<TestRunner>;
  if (typeof describe === 'function' && typeof it === 'function') return { describe, it };
  throw new Error('No global describe and it. Run this file with a test runner that provides them, such as jest.');
}

/** Raises mocha's time-out, which can only be set inside the test. Does nothing with other runners. */
function raiseMochaTimeout(context: unknown): void {
  const { timeout } = (context ?? {}) as { timeout?: unknown };
  if (typeof timeout === 'function') timeout.call(context, CASE_TIMEOUT);
}

/** Declares one rule of a port, and its test. */
export type Rule<Body> = (statement: string, body: Body) => void;

/** The rules of a suite by topic. */
export type Topics<Body> = readonly (readonly [topic: string, declare: (rule: Rule<Body>) => void])[];

/** Declares the tests of a conformance suite. `run` runs the test of one rule on an empty instance. */
export function declareSuite<Body>(name: string, topics: Topics<Body>, run: (body: Body) => Promise<void>): void {
  const { describe, it } = currentTestRunner();
  const rule: Rule<Body> = (statement, body) => {
    it(
      statement,
      async function () {
        raiseMochaTimeout(this);
        await run(body);
      },
      CASE_TIMEOUT,
    );
  };
  describe(name, () => {
    for (const [topic, declare] of topics) describe(topic, () => declare(rule));
  });
}

interface Instances<Instance> {
  readonly first: Instance;
  readonly again?: (() => Awaitable<Instance>) | undefined;
  readonly dispose?: (() => Awaitable<void>) | undefined;
}

/** Runs a test, and closes all instances that it has opened. `openAgain` returns undefined if there can be only one. */
export async function withInstances<Instance extends { close(): Awaitable<void> }>(
  { first, again, dispose }: Instances<Instance>,
  test: (openAgain: () => Promise<Instance | undefined>) => Promise<void>,
): Promise<void> {
  const opened = [first];
  try {
    await test(async () => {
      const other = await again?.();
      if (other) opened.push(other);
      return other;
    });
  } finally {
    for (const instance of opened) await instance.close();
    await dispose?.();
  }
}

/** Asserts deep equality. Copies both values, because native drivers create objects in another realm than isolated tests. */
export function assertEqual(actual: unknown, expected: unknown): void {
  assert.deepEqual(inThisRealm(actual), inThisRealm(expected));
}

function inThisRealm(value: unknown): unknown {
  if (Array.isArray(value)) return Array.from(value, inThisRealm);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, inThisRealm(member)]));
}
