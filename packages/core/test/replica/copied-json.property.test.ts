import fc from 'fast-check';
import { mergeJson } from '../../src/base/json.js';

const KEYS = ['name', '__proto__', 'constructor', '0'] as const;

/** Values of few members and leaves, so that two of them often have parts in common; some members are undefined. */
const { value: someValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, '', 'a', 0, 1),
    fc.array(fc.oneof(tie('value'), fc.constant(undefined)), { maxLength: 3 }),
    fc
      .uniqueArray(
        fc.tuple(fc.constantFrom(...KEYS), fc.oneof({ weight: 4, arbitrary: tie('value') }, fc.constant(undefined))),
        { selector: ([key]) => key },
      )
      .map((members) => Object.fromEntries(members)),
  ),
}));

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** All objects and arrays in a value. */
function partsOf(value: unknown): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(partsOf)];
}

describe('a copy of a JSON value beside a known one', () => {
  it('equals the parsed text of the value', () => {
    fc.assert(
      fc.property(someValue, someValue, (value, known) => {
        // As text first: a comparison of members would look through `__proto__`.
        expect(JSON.stringify(sorted(mergeJson(value, { known: json(known) })))).toBe(
          JSON.stringify(sorted(json(value))),
        );
      }),
    );
  });

  it('has no part in common with the value', () => {
    fc.assert(
      fc.property(someValue, someValue, (value, known) => {
        const parts = new Set(partsOf(value));
        expect(partsOf(mergeJson(value, { known: json(known) })).filter((part) => parts.has(part))).toEqual([]);
      }),
    );
  });

  it('is the known one where nothing has changed, whatever the order of members', () => {
    fc.assert(
      fc.property(someValue, (value) => {
        const known = json(value);
        expect(mergeJson(reversed(value), { known })).toBe(known);
      }),
    );
  });

  it('has the known part in place of each that the value has of the twin', () => {
    fc.assert(
      fc.property(someValue, someValue, (one, other) => {
        const [known, twin] = [json([one]) as unknown[], json([one]) as unknown[]];
        const copy = mergeJson([...twin, other], { known, twin });
        expect(JSON.stringify(copy)).toBe(JSON.stringify(json([one, other])));
        const parts = new Set(partsOf(twin));
        expect(partsOf(copy).filter((part) => parts.has(part))).toEqual([]);
        expect((copy as unknown[])[0]).toBe(known[0]);
      }),
    );
  });

  it('keeps the known parts beside those that have changed', () => {
    const known = { variants: [{ name: 'a' }], environments: [{ name: 'one' }, { name: 'two' }] };
    const copy = mergeJson({ ...known, environments: [{ name: 'one' }, { name: 'other' }] }, { known }) as typeof known;
    expect(copy).toEqual({ variants: [{ name: 'a' }], environments: [{ name: 'one' }, { name: 'other' }] });
    expect(copy.variants).toBe(known.variants);
    expect(copy.environments[0]).toBe(known.environments[0]);
    expect(mergeJson({ variants: known.variants }, { known })).toEqual({ variants: [{ name: 'a' }] });
  });
});

function reversed(value: unknown): unknown {
  return reordered(value, (members) => members.reverse());
}

function sorted(value: unknown): unknown {
  return reordered(value, (members) => members.sort(([one], [other]) => (one < other ? -1 : 1)));
}

function reordered(value: unknown, order: (members: [string, unknown][]) => [string, unknown][]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => reordered(item, order));
  const members = Object.entries(value).map(([name, member]): [string, unknown] => [name, reordered(member, order)]);
  return Object.fromEntries(order(members));
}
