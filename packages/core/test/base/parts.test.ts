import fc from 'fast-check';
import { isSameJson } from '../../src/base/json.js';
import { compareStates, editItems, editList, mergeStates } from '../../src/base/parts.js';

describe('parts', () => {
  interface Item {
    readonly id: string;
    readonly value: number;
  }

  const items = fc.uniqueArray(
    fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), value: fc.integer({ min: 0, max: 2 }) }),
    { selector: ({ id }) => id },
  );

  /** Applies edits as events do: new items are appended. */
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
});

describe('merging', () => {
  const strategy = (id: string, rollout: number, rest: object = {}) => ({ id, parameters: { rollout }, ...rest });

  describe('merging two edits', () => {
    it('keeps both, if they changed different parts', () => {
      const base = { stale: false, strategies: [strategy('a', 25), strategy('b', 10)] };
      const theirs = { stale: true, strategies: [strategy('a', 25), strategy('b', 20)] };
      const mine = { stale: false, strategies: [strategy('a', 50), strategy('b', 10)] };
      const { result, conflicts, merged } = mergeStates({ base, theirs, mine });
      expect(result).toEqual({ stale: true, strategies: [strategy('a', 50), strategy('b', 20)] });
      expect(conflicts).toEqual([]);
      expect(merged.map(({ path }) => path)).toEqual(['/stale', '/strategies/a', '/strategies/b']);
    });

    it('reports a conflict in the same field, and uses the side that was chosen', () => {
      const sides = {
        base: { strategies: [strategy('a', 25)] },
        theirs: { strategies: [strategy('a', 30)] },
        mine: { strategies: [strategy('a', 50)] },
      };
      const path = '/strategies/a/parameters/rollout';
      expect(mergeStates(sides).conflicts).toEqual([{ path, base: 25, theirs: 30, mine: 50 }]);
      expect(mergeStates(sides).result).toEqual(sides.mine);
      expect(mergeStates(sides, { choices: new Map([[path, 'theirs']]) }).result).toEqual(sides.theirs);
    });

    it('keeps the additions of both sides, and the order of the side that changed it', () => {
      const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => strategy(id, 1));
      const { result } = mergeStates({ base: [a, b], theirs: [b, a, c], mine: [a, b, d] });
      expect(result.map((one) => one?.id)).toEqual(['b', 'a', 'c', 'd']);
    });

    it('reports a conflict if one side edits a member that the other side has removed', () => {
      const { conflicts } = mergeStates({ base: [strategy('a', 1)], theirs: [], mine: [strategy('a', 2)] });
      expect(conflicts.map(({ path }) => path)).toEqual(['/a']);
    });

    const document = fc.dictionary(
      fc.constantFrom('a', 'b', 'c', 'd'),
      fc.oneof(
        fc.integer({ min: 0, max: 3 }),
        fc.array(fc.record({ id: fc.constantFrom('x', 'y', 'z'), rollout: fc.integer({ min: 0, max: 2 }) }), {
          maxLength: 3,
        }),
      ),
    );

    it('changes nothing where only one side has changed something', () => {
      fc.assert(
        fc.property(document, document, (base, edited) => {
          const one = mergeStates({ base, theirs: edited, mine: base });
          const other = mergeStates({ base, theirs: base, mine: edited });
          expect([one.conflicts, other.conflicts]).toEqual([[], []]);
          expect(isSameJson(one.result, edited) && isSameJson(other.result, edited)).toBe(true);
        }),
      );
    });

    it('never loses a part that neither side has changed, nor adds one', () => {
      fc.assert(
        fc.property(document, document, document, (base, theirs, mine) => {
          const { result } = mergeStates<Record<string, unknown>>({ base, theirs, mine });
          for (const [name, value] of Object.entries(base)) {
            if (isSameJson(theirs[name], value) && isSameJson(mine[name], value)) expect(result[name]).toEqual(value);
          }
          const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
          expect(Object.keys(result).every((name) => names.has(name))).toBe(true);
        }),
      );
    });
  });

  it('removes a member that has the name of an inherited one', () => {
    const base = JSON.parse('{"a": "1", "__proto__": "x"}') as object;
    const theirs = JSON.parse('{"a": "2", "__proto__": "x"}') as object;
    const { result, conflicts } = mergeStates<object>({ base, theirs, mine: { a: '1' } });
    expect(conflicts).toEqual([]);
    expect(JSON.stringify(result)).toBe('{"a":"2"}');
  });
});
