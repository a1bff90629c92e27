import fc from 'fast-check';
import type { JsonPatch } from '../../src/base/common.types.js';
import type { Variant, VariantInput } from '../../src/flags/variant.types.js';
import { patchVariants, setVariants } from '../../src/flags/variants.decide.js';
import { validate } from '../base/default-validators.js';
import { after, flagState } from './flag-states.js';
import { refusalOf } from './refusal.js';

function variantState(name: string, weight: number, changes: Partial<Variant> = {}): Variant {
  return { name, weightType: 'variable', weight, stickiness: 'default', overrides: [], ...changes };
}

describe('setting variants', () => {
  it('is one event, with defaults filled in and weights computed', () => {
    const events = setVariants(flagState(), [{ name: 'a' }, { name: 'b', weightType: 'fix', weight: 100 }]);
    const variants = [variantState('a', 900), variantState('b', 100, { weightType: 'fix' })];
    expect(events).toEqual([{ type: 'variants-updated', data: { variants }, before: { variants: [] } }]);
    expect(after(flagState(), events)).toEqual(flagState({ variants }));
  });

  it('keeps payload, stickiness and overrides, and what is not given is not there', () => {
    const payload = { type: 'json', value: '{}' } as const;
    const overrides = [{ contextName: 'userId', values: ['7'] }];
    const input: VariantInput[] = [{ name: 'a', stickiness: 'userId', payload, overrides }, { name: 'b' }];
    const flag = after(flagState(), setVariants(flagState(), input));
    expect(flag?.variants[0]).toEqual(variantState('a', 500, { stickiness: 'userId', payload, overrides }));
    expect(flag?.variants[1]).not.toHaveProperty('payload');
  });

  it('to what they are is no event', () => {
    const flag = flagState({ variants: [variantState('a', 1000)] });
    expect(setVariants(flag, [{ name: 'a', weight: 7 }])).toEqual([]);
    expect(setVariants(flagState(), [])).toEqual([]);
  });

  it('in another order is a change', () => {
    const flag = flagState({ variants: [variantState('a', 500), variantState('b', 500)] });
    expect(setVariants(flag, [{ name: 'b' }, { name: 'a' }])).toHaveLength(1);
  });

  it('is refused for an archived flag', () => {
    expect(refusalOf(() => setVariants(flagState({ archived: true }), [])).code).toBe('flag_archived');
  });
});

describe('patching variants', () => {
  const flag = flagState({
    variants: [variantState('a', 100, { weightType: 'fix' }), variantState('b', 450), variantState('c', 450)],
  });

  function weightsAfter(...patch: JsonPatch) {
    const patched = after(flag, patchVariants(flag, { patch, validate: validate.variants }));
    return patched?.variants.map(({ name, weight }) => [name, weight]);
  }

  it.each<[JsonPatch[number], unknown]>([
    [
      { op: 'add', path: '/-', value: { name: 'd' } },
      [
        ['a', 100],
        ['b', 300],
        ['c', 300],
        ['d', 300],
      ],
    ],
    [
      { op: 'add', path: '/0', value: { name: 'd' } },
      [
        ['d', 300],
        ['a', 100],
        ['b', 300],
        ['c', 300],
      ],
    ],
    [
      { op: 'remove', path: '/1' },
      [
        ['a', 100],
        ['c', 900],
      ],
    ],
    [
      { op: 'replace', path: '/0/weight', value: 300 },
      [
        ['a', 300],
        ['b', 350],
        ['c', 350],
      ],
    ],
    [
      { op: 'replace', path: '/0/weightType', value: 'variable' },
      [
        ['a', 334],
        ['b', 333],
        ['c', 333],
      ],
    ],
    [
      { op: 'replace', path: '/2/weight', value: 7 },
      [
        ['a', 100],
        ['b', 450],
        ['c', 450],
      ],
    ],
    [
      { op: 'move', from: '/2', path: '/0' },
      [
        ['c', 450],
        ['a', 100],
        ['b', 450],
      ],
    ],
    [{ op: 'replace', path: '', value: [] }, []],
  ])('does %j', (operation, weights) => {
    expect(weightsAfter(operation)).toEqual(weights);
  });

  it.each<[JsonPatch[number], string]>([
    [{ op: 'add', path: '/4', value: { name: 'd' } }, 'invalid_patch'],
    [{ op: 'move', from: '/0', path: '/3' }, 'invalid_patch'],
    [{ op: 'remove', path: '/3' }, 'invalid_patch'],
    [{ op: 'remove', path: '/-' }, 'invalid_patch'],
    [{ op: 'test', path: '/1/weight', value: 7 }, 'patch_test_failed'],
    [{ op: 'remove', path: '' }, 'invalid_input'],
    [{ op: 'copy', from: '/0', path: '/-' }, 'invalid_input'],
    [{ op: 'replace', path: '/0/weight', value: 1000 }, 'invalid_input'],
    [{ op: 'add', path: '/0/colour', value: 'red' }, 'invalid_input'],
  ])('is refused for %j with %s', (operation, code) => {
    expect(refusalOf(() => weightsAfter(operation)).code).toBe(code);
  });

  it('is refused for an archived flag', () => {
    const input = { patch: [], validate: validate.variants };
    expect(refusalOf(() => patchVariants({ ...flag, archived: true }, input)).code).toBe('flag_archived');
  });
});

describe('distributing weight', () => {
  function distributed(input: readonly VariantInput[]): readonly Variant[] {
    return after(flagState(), setVariants(flagState(), input))?.variants ?? [];
  }

  /** Fixed weights, and -1 for what is variable: at least one of them. */
  const weights = fc
    .tuple(fc.array(fc.integer({ min: -1, max: 120 }), { maxLength: 8 }), fc.nat({ max: 8 }))
    .map(([list, at]) => list.toSpliced(at, 0, -1));

  it('adds up to 1000, keeps what is fixed, and differs by at most 1, the first having more', () => {
    fc.assert(
      fc.property(weights, (list) => {
        const given = list.map((weight, n) =>
          weight < 0 ? variantState(`v${n}`, 0) : variantState(`v${n}`, weight, { weightType: 'fix' }),
        );
        const variants = distributed(given);
        expect(variants.map(({ name }) => name)).toEqual(given.map(({ name }) => name));
        expect(variants.reduce((sum, { weight }) => sum + weight, 0)).toBe(1000);
        const shares = variants.filter((_, n) => list[n] === -1).map(({ weight }) => weight);
        expect(variants.filter((_, n) => list[n] !== -1)).toEqual(given.filter((_, n) => list[n] !== -1));
        expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
        expect(shares).toEqual(shares.toSorted((one, other) => other - one));
        expect(shares.every(Number.isInteger)).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    [3, [334, 333, 333]],
    [7, [143, 143, 143, 143, 143, 143, 142]],
    [1, [1000]],
  ])('among %i variable variants gives %j', (count, expected) => {
    const variants = Array.from({ length: count }, (_, n) => variantState(`v${n}`, 0));
    expect(distributed(variants).map(({ weight }) => weight)).toEqual(expected);
  });

  it('gives nothing to those for whom nothing is left', () => {
    const variants = [variantState('fix', 999, { weightType: 'fix' }), variantState('a', 0), variantState('b', 0)];
    expect(distributed(variants).map(({ weight }) => weight)).toEqual([999, 1, 0]);
  });
});
