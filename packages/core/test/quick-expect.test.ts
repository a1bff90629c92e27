/** The quick forms of `test/quick-expect.ts` must never pass what jest refuses, nor refuse what it passes. */
const FAILING: Readonly<Record<string, () => void>> = {
  'another member': () => expect({ a: 1, b: [1, { c: 2 }] }).toEqual({ a: 1, b: [1, { c: 3 }] }),
  'a further member': () => expect({ a: 1, b: 2 }).toEqual({ a: 1 }),
  'a missing member': () => expect({ a: 1 }).toEqual({ a: 1, b: 2 }),
  'a missing item': () => expect([1]).toEqual([1, 2]),
  'another entry of a map': () => expect(new Map([['a', { b: 1 }]])).toEqual(new Map([['a', { b: 2 }]])),
  'another symbol': () => expect({ [Symbol.for('a')]: 1 }).toEqual({ [Symbol.for('a')]: 2 }),
  'a list instead of an object': () => expect([]).toEqual({}),
  'the other zero': () => expect([-0]).toEqual([0]),
  'equal values with not': () => expect({ a: [1] }).not.toEqual({ a: [1] }),
  'a hole, strictly': () => expect([undefined]).toStrictEqual(new Array(1)),
  'an equal object that is not the same': () => expect({}).toBe({}),
  'an equal item that is not the same': () => expect([{}]).toContain({}),
  'no number in a list': () => expect([Number.NaN]).toContain(Number.NaN),
  'another length': () => expect([1]).toHaveLength(2),
  'the same number, which is not greater': () => expect(1).toBeGreaterThan(1),
  'the same number, which is not less': () => expect(1).toBeLessThan(1),
};

const PASSING: Readonly<Record<string, () => void>> = {
  'equal values': () => expect({ a: [1, { b: null }], c: Number.NaN }).toEqual({ a: [1, { b: null }], c: Number.NaN }),
  'an absent member that is undefined': () => expect({ a: undefined }).toEqual({}),
  'a hole that is undefined': () => expect([undefined]).toEqual(new Array(1)),
  'a matcher': () => expect({ a: [1] }).toEqual({ a: [expect.any(Number)] }),
  'a part': () => expect({ a: 1, b: { c: 2, d: 3 } }).toMatchObject({ b: { c: 2 } }),
  'a part of a text': () => expect('abc').toContain('b'),
  'the length of a text': () => expect('ab').toHaveLength(2),
  'a bigint': () => expect(2n).toBeGreaterThan(1),
  'an object without a prototype': () => expect(Object.create(null)).toEqual({}),
};

describe('expect', () => {
  it.each(Object.entries(FAILING))('refuses %s', (_, expectation) => {
    expect(expectation).toThrow('expect(');
  });

  it.each(Object.entries(PASSING))('accepts %s', (_, expectation) => {
    expectation();
  });

  it('counts what passes', () => {
    expect.assertions(3);
    expect(1).toBe(1);
    expect([1]).toEqual([1]);
    expect(1).not.toBe(2);
  });
});
