import fc from 'fast-check';
import { isSameJson } from '../../src/base/json.js';
import { mergeStates } from '../../src/base/parts.js';

const strategy = (id: string, rollout: number, rest: object = {}) => ({ id, parameters: { rollout }, ...rest });

describe('merging two edits', () => {
  it('takes both, if they changed different parts', () => {
    const base = { stale: false, strategies: [strategy('a', 25), strategy('b', 10)] };
    const theirs = { stale: true, strategies: [strategy('a', 25), strategy('b', 20)] };
    const mine = { stale: false, strategies: [strategy('a', 50), strategy('b', 10)] };
    const { result, conflicts, merged } = mergeStates({ base, theirs, mine });
    expect(result).toEqual({ stale: true, strategies: [strategy('a', 50), strategy('b', 20)] });
    expect(conflicts).toEqual([]);
    expect(merged.map(({ path }) => path)).toEqual(['/stale', '/strategies/a', '/strategies/b']);
  });

  it('reports the same field, and takes the side that was chosen', () => {
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

  it('changes nothing where only one of them has changed something', () => {
    fc.assert(
      fc.property(document, document, (base, edited) => {
        const one = mergeStates({ base, theirs: edited, mine: base });
        const other = mergeStates({ base, theirs: base, mine: edited });
        expect([one.conflicts, other.conflicts]).toEqual([[], []]);
        expect(isSameJson(one.result, edited) && isSameJson(other.result, edited)).toBe(true);
      }),
    );
  });

  it('never loses a part that neither has changed, nor makes one up', () => {
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
