import fc, { type Arbitrary } from 'fast-check';

/** Mostly the first, so that operations have an effect, and sometimes the other. */
export function mostly<T>(usual: Arbitrary<T>, rare: Arbitrary<unknown>): Arbitrary<unknown> {
  return fc.oneof({ weight: 9, arbitrary: usual }, { weight: 1, arbitrary: rare });
}

const constraint = fc.constantFrom(
  { contextName: '__proto__', operator: 'IN', values: ['a'] },
  { contextName: 'age', operator: 'NUM_GT', value: '17', inverted: true },
  { contextName: 'version', operator: 'SEMVER_EQ', value: '1.2.3' },
);
const badConstraint = fc.constantFrom({ contextName: 'a', operator: 'IN' }, { operator: 'ALMOST' }, 7);
const parameters = fc.dictionary(
  fc.constantFrom('groupId', 'stickiness', '__proto__', 'hasOwnProperty'),
  fc.constantFrom('a', 'b', 50, -0, true, null),
  { maxKeys: 3, noNullPrototype: true },
);

export const strategyInput = fc.record(
  {
    name: mostly(fc.constantFrom('default', 'flexibleRollout'), fc.constant('')),
    parameters: mostly(parameters, fc.constantFrom(null, 7, { deep: {} })),
    constraints: fc.array(mostly(constraint, badConstraint), { maxLength: 2 }),
    segments: mostly(fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { maxLength: 2 }), fc.constant([7])),
    title: fc.constant('title'),
    sortOrder: fc.constantFrom(1, -0),
    unheardOf: fc.constant({ deep: [1] }),
  },
  { requiredKeys: ['name'], noNullPrototype: true },
);

export const variantInput = fc.record(
  {
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', '__proto__', 'constructor'),
    weightType: fc.constantFrom('fix', 'variable', 'variable'),
    weight: mostly(fc.integer({ min: 0, max: 300 }), fc.constantFrom(-0, -1, 0.5, 1000)),
    stickiness: fc.constantFrom('default', 'userId'),
    payload: mostly(fc.constant({ type: 'json', value: '{}' }), fc.constant({ type: 'json', value: '{' })),
    overrides: fc.constantFrom([], [{ contextName: 'userId', values: ['7'] }]),
  },
  { requiredKeys: ['name', 'weight'], noNullPrototype: true },
);
