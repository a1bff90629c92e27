/**
 * Runs before every test file: `expect` takes a fraction of its time where the expectation holds. Jest makes some three hundred
 * functions for each call of `expect`, and its comparison is slow: together most of the time of tests that compare whole
 * stores. Jest still decides on what is not found equal here, and writes the messages.
 */

/** Cycles are left to jest. */
const DEEPEST = 60;

/** Whether two values are primitives, or plain objects, arrays and maps with the same members in turn. */
function isSame(one: unknown, other: unknown, depth: number): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (depth > DEEPEST) return false;
  const prototype = Object.getPrototypeOf(one);
  if (prototype !== Object.getPrototypeOf(other)) return false;
  if (prototype === Array.prototype) return areSameItems(one as unknown[], other as unknown[], depth + 1);
  if (prototype === Map.prototype) return areSameEntries(one as AnyMap, other as AnyMap, depth + 1);
  const isPlain = prototype === Object.prototype || prototype === null;
  return isPlain && areSameMembers(one as Members, other as Members, depth + 1);
}

type AnyMap = ReadonlyMap<unknown, unknown>;
type Members = Readonly<Record<PropertyKey, unknown>>;

function areSameItems(some: readonly unknown[], others: readonly unknown[], depth: number): boolean {
  if (some.length !== others.length) return false;
  // A hole is equal to undefined.
  for (let index = 0; index < some.length; index++) if (!isSame(some[index], others[index], depth)) return false;
  return true;
}

function areSameEntries(some: AnyMap, others: AnyMap, depth: number): boolean {
  if (some.size !== others.size) return false;
  for (const [key, value] of some) if (!others.has(key) || !isSame(value, others.get(key), depth)) return false;
  return true;
}

function areSameMembers(some: Members, others: Members, depth: number): boolean {
  const names = Object.keys(some);
  if (names.length !== Object.keys(others).length) return false;
  for (const name of names) if (!Object.hasOwn(others, name) || !isSame(some[name], others[name], depth)) return false;
  const symbols = Object.getOwnPropertySymbols(some);
  if (symbols.length !== Object.getOwnPropertySymbols(others).length) return false;
  return symbols.every((symbol) => Object.hasOwn(others, symbol) && isSame(some[symbol], others[symbol], depth));
}

const jestExpect = expect;

/** The matchers that most expectations use: whether each surely passes. */
const HOLDS: Readonly<Partial<Record<string, (actual: unknown, expected: unknown) => boolean>>> = {
  toBe: Object.is,
  toEqual: (actual, expected) => isSame(actual, expected, 0),
  toContain: (actual, expected) => Array.isArray(actual) && actual.indexOf(expected) >= 0,
  toHaveLength: (actual, expected) => Array.isArray(actual) && actual.length === expected,
  toBeGreaterThan: (actual, expected) => areNumbers(actual, expected) && Number(actual) > Number(expected),
  toBeGreaterThanOrEqual: (actual, expected) => areNumbers(actual, expected) && Number(actual) >= Number(expected),
  toBeLessThan: (actual, expected) => areNumbers(actual, expected) && Number(actual) < Number(expected),
  toBeLessThanOrEqual: (actual, expected) => areNumbers(actual, expected) && Number(actual) <= Number(expected),
};

function areNumbers(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'number');
}

class Expectation {
  constructor(readonly actual: unknown) {}
}

for (const name of Object.keys(jestExpect(undefined)) as (keyof jest.JestMatchers<unknown>)[]) {
  const holds = HOLDS[name];
  if (holds) Object.defineProperty(Expectation.prototype, name, { value: quickMatcher(name, holds) });
  else Object.defineProperty(Expectation.prototype, name, { get: getMatcher });

  function getMatcher(this: Expectation) {
    return jestExpect(this.actual)[name];
  }
}

function quickMatcher(name: keyof jest.JestMatchers<unknown>, holds: (actual: unknown, expected: unknown) => boolean) {
  return function matcher(this: Expectation, ...given: readonly unknown[]): void {
    if (given.length === 1 && holds(this.actual, given[0])) {
      countPassed();
    } else {
      const decide = jestExpect(this.actual)[name] as unknown as (...given: readonly unknown[]) => void;
      withoutFrame(matcher, () => decide(...given));
    }
  };
}

function countPassed(): void {
  const state = jestExpect.getState();
  state.assertionCalls += 1;
  state.numPassingAsserts += 1;
}

/** Removes the frame of a matcher from the error's stack: jest shows the lines of the first one. */
function withoutFrame(matcher: (...given: readonly unknown[]) => void, run: () => void): void {
  try {
    run();
  } catch (error) {
    if (error instanceof Error) Error.captureStackTrace(error, matcher);
    throw error;
  }
}

Object.assign(globalThis, { expect: Object.assign((actual: unknown) => new Expectation(actual), jestExpect) });
