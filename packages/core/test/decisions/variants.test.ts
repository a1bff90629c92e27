import type { JsonPatch } from '../../src/base/common.types.js';
import { applyPatch } from '../../src/base/json-patch.js';
import type { Variant, VariantInput } from '../../src/flags/variant.types.js';
import { setVariants } from '../../src/flags/variants.decide.js';
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

  it('without a difference causes no event', () => {
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
    const patched = after(flag, setVariants(flag, validate.variants(applyPatch(flag.variants, patch, {}))));
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
});
