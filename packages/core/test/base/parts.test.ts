import fc from 'fast-check';
import { isSameJson } from '../../src/base/json.js';
import { compareStates, editItems, editList, mergeStates } from '../../src/base/parts.js';

interface Item {
  readonly id: string;
  readonly value: number;
}

const items = fc.uniqueArray(
  fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value: fc.integer({ min: 0, max: 2 }) }),
  { selector: ({ id }) => id },
);

/** Carries out edits as events do: new items are appended. */
function carryOut(list: readonly Item[], edits: ReturnType<typeof editList<Item>>): readonly Item[] {
  let all = list;
  for (const { before, after } of edits) {
    if (!before) all = all.concat(after);
    else if (!after) all = all.filter(({ id }) => id !== before.id);
    else all = all.map((one) => (one.id === before.id ? after : one));
  }
  return all;
}

it('edits one list into any other, in order', () => {
  fc.assert(
    fc.property(items, items, (before, after) => {
      expect(carryOut(before, editList(before, after))).toEqual(after);
      const sorted = (list: readonly Item[]) => [...list].sort((one, other) => (one.id < other.id ? -1 : 1));
      expect(sorted(carryOut(before, editItems(before, after)))).toEqual(sorted(after));
      expect(editList(before, before)).toEqual([]);
    }),
  );
});

it('finds a difference exactly where values differ', () => {
  const document = fc.record({ name: fc.constantFrom('x', 'y'), items, labels: fc.array(fc.constantFrom('p', 'q')) });
  fc.assert(
    fc.property(document, document, (before, after) => {
      expect(compareStates(before, after).length === 0).toBe(isSameJson(before, after));
    }),
  );
});

it('merges a change into the same state, and keeps the state without a change', () => {
  fc.assert(
    fc.property(items, items, (base, changed) => {
      for (const sides of [
        { base, theirs: base, mine: changed },
        { base, theirs: changed, mine: base },
      ]) {
        expect(mergeStates(sides)).toMatchObject({ result: changed, conflicts: [], agreed: [], reordered: [] });
      }
    }),
  );
});

it('distinguishes changes of both sides to different values, to the same value, and of the order', () => {
  const [a, b] = [1, 1].map((value, index) => ({ id: index === 0 ? 'a' : 'b', value }));
  const both = { name: 'y', list: [b, a], labels: ['p'] };
  const { conflicts, agreed, reordered } = mergeStates({
    base: { name: 'x', list: [a, b], labels: [] as string[] },
    theirs: both,
    mine: { ...both, labels: ['q'] },
  });
  expect(conflicts).toEqual([{ path: '/labels', base: [], theirs: ['p'], mine: ['q'] }]);
  expect({ agreed, reordered }).toEqual({ agreed: ['/name'], reordered: ['/list'] });
});

it('takes a whole part from one side only', () => {
  const sides = { base: { part: { a: 1, b: 1 } }, theirs: { part: { a: 2, b: 1 } }, mine: { part: { a: 1, b: 2 } } };
  expect(mergeStates(sides)).toMatchObject({ result: { part: { a: 2, b: 2 } }, conflicts: [] });
  const { conflicts } = mergeStates(sides, { isWhole: (path) => path === '/part' });
  expect(conflicts.map(({ path }) => path)).toEqual(['/part']);
});
