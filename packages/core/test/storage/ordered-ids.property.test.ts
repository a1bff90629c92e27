import fc from 'fast-check';
import { compareCodePoints } from '../../src/base/collections.js';
import { createOrderedIds } from '../../src/storage/memory/storage.js';

const id = fc.string({ unit: 'binary', maxLength: 3 });
const limit = fc.option(fc.nat(5), { nil: undefined });

describe('ordered ids', () => {
  it('are those that were added and not removed, in code-point order, from any place and to any length', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.boolean())), fc.array(fc.tuple(id, limit)), (changes, questions) => {
        const ids = createOrderedIds();
        const known = new Set<string>();
        for (const [one, present] of changes) {
          if (present && !known.has(one)) ids.add(one);
          if (!present) ids.remove(one);
          if (present) known.add(one);
          else known.delete(one);
        }
        const sorted = [...known].sort(compareCodePoints);
        expect(ids.after(undefined, undefined)).toEqual(sorted);
        for (const [place, length] of questions) {
          const rest = sorted.filter((one) => compareCodePoints(one, place) > 0);
          expect(ids.after(place, length)).toEqual(rest.slice(0, length));
        }
      }),
    );
  });

  it('stay in order when there are more than one run holds, and when runs empty', () => {
    const ids = createOrderedIds();
    const all = Array.from({ length: 3_000 }, (_, at) => String((at * 1_237) % 3_000).padStart(4, '0'));
    for (const one of all) ids.add(one);
    const sorted = [...all].sort(compareCodePoints);
    expect(ids.after(undefined, undefined)).toEqual(sorted);
    for (const place of [0, 255, 256, 511, 512, 1_499, 2_998, 2_999]) {
      expect(ids.after(sorted[place], 600)).toEqual(sorted.slice(place + 1, place + 601));
    }
    for (const one of sorted.slice(100, 2_900)) ids.remove(one);
    expect(ids.after('0050', undefined)).toEqual([...sorted.slice(51, 100), ...sorted.slice(2_900)]);
    ids.add('1500');
    expect(ids.after('0099', 2)).toEqual(['1500', '2900']);
  });
});
