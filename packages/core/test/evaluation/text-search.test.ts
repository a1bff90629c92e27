import fc from 'fast-check';
import { createTextSearch } from '../../src/evaluation/text-search.js';

const short = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\u{1f600}'), minLength: 1, maxLength: 6 });
const long = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 65, maxLength: 70 });

describe('a search for any of many texts', () => {
  it('finds the same items as a linear search', () => {
    const parts = fc.array(fc.oneof({ weight: 20, arbitrary: short }, long), { minLength: 100, maxLength: 150 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '\u{1f600}'), maxLength: 80 });
    const property = fc.property(parts, text, (all, within) => {
      // Few of them, so that not every text has one.
      const rare = all.map((part, at) => (at < 3 ? part : `${part}#${at}`));
      expect(createTextSearch(rare)(within)).toBe(rare.some((part) => within.includes(part)));
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('finds an empty text in every text', () => {
    const parts = ['', ...Array.from({ length: 200 }, (_, at) => `x${at}`)];
    expect([createTextSearch(parts)(''), createTextSearch(parts)('y'), createTextSearch([])('y')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});
