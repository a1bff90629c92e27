/**
 * Runs before every test file: jest compares equal values many times as fast. Its own comparison takes most of the time of
 * tests that compare whole stores. It still decides on what is not found equal here, and writes the messages.
 */

/** Jest has a guard against cycles. */
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
  for (let index = 0; index < some.length; index++) {
    // It could be a hole.
    if (some[index] === undefined || !isSame(some[index], others[index], depth)) return false;
  }
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

// Undefined: jest compares them.
expect.addEqualityTesters([(one, other) => (isSame(one, other, 0) ? true : undefined)]);
