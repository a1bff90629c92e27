import fc from 'fast-check';
import { RecentMap } from '../../src/base/recent-map.js';

/** A read of a key, or a write of a value. */
const use = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value: fc.option(fc.nat(9)) });

describe('a map of recent entries', () => {
  it('keeps the entries that were read or written last, at most as many as its limit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.array(use, { maxLength: 30 }), (limit, uses) => {
        const map = new RecentMap<string, number>(limit);
        let expected: readonly (readonly [string, number])[] = [];
        for (const { key, value } of uses) {
          const known = expected.find(([name]) => name === key)?.[1];
          const kept = value ?? known;
          if (value === null) expect(map.get(key)).toBe(known);
          else map.set(key, value);
          if (kept === undefined) continue;
          expected = [[key, kept] as const, ...expected.filter(([name]) => name !== key)].slice(0, limit);
          expect(map.keys()).toEqual(expected.map(([name]) => name));
        }
      }),
    );
  });

  it('is empty after it was cleared', () => {
    const map = new RecentMap<string, number>(2);
    map.set('a', 1);
    map.clear();
    expect(map.keys()).toEqual([]);
    expect(map.get('a')).toBeUndefined();
  });
});
