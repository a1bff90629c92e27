import assert from 'node:assert/strict';

/** Compares JSON values as data: drivers and test runners make objects in realms of their own, with other prototypes. */
export function assertSame(actual: unknown, expected: unknown): void {
  assert.deepEqual(asData(actual), asData(expected));
}

function asData(value: unknown): unknown {
  return value === undefined ? value : JSON.parse(JSON.stringify(value));
}
