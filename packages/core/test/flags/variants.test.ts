import { type Arbitrary, array, assert, asyncProperty, integer } from 'fast-check';
import type { Flags, Variant, VariantInput } from '../../src/index.js';
import { factsOf } from '../facts.js';
import { onEveryStorage, type Start } from '../on-every-storage.js';
import { CHECKOUT, DEFAULT, INHERITED_NAMES } from '../references.js';
import { expectRefusal, refusalOf } from '../refusal.js';

async function checkoutIn(start: Start): Promise<Flags> {
  const flags = await start();
  await flags.createFlag(DEFAULT, { name: 'checkout' });
  return flags;
}

const BLUE: VariantInput = { name: 'blue', weightType: 'fix', weight: 100 };
const GREEN: VariantInput = { name: 'green' };

async function weightsIn(flags: Flags): Promise<readonly [string, number][]> {
  return (await flags.getFlag(CHECKOUT)).variants.map(({ name, weight }) => [name, weight]);
}

const FAULTY: readonly [string, unknown[]][] = [
  ['only fixed weights', [{ name: 'a', weightType: 'fix', weight: 500 }]],
  ['fixed weights of 1000', [{ name: 'a', weightType: 'fix', weight: 1000 }, { name: 'b' }]],
  [
    'fixed weights above 1000',
    [{ name: 'a', weightType: 'fix', weight: 600 }, { name: 'b', weightType: 'fix', weight: 600 }, { name: 'c' }],
  ],
  ['a name twice', [{ name: 'a' }, { name: 'a' }]],
  ['a fixed variant without a weight', [{ name: 'a', weightType: 'fix' }, { name: 'b' }]],
  ['a negative weight', [{ name: 'a', weightType: 'fix', weight: -1 }, { name: 'b' }]],
  ['a broken weight', [{ name: 'a', weightType: 'fix', weight: 1.5 }, { name: 'b' }]],
  ['a weight as text', [{ name: 'a', weightType: 'fix', weight: '100' }, { name: 'b' }]],
  ['a weight above the scale', [{ name: 'a', weight: 1001 }]],
  ['an unknown weight type', [{ name: 'a', weightType: 'other' }]],
  ['no name', [{ weightType: 'variable' }]],
  ['a name that is not valid for a flag', [{ name: 'a b' }]],
  ['an unknown member', [{ name: 'a', color: 'red' }]],
  ['a number for a stickiness', [{ name: 'a', stickiness: 1 }]],
  ['a payload without a value', [{ name: 'a', payload: { type: 'string' } }]],
  ['an unknown payload type', [{ name: 'a', payload: { type: 'xml', value: '' } }]],
  ['an unknown payload member', [{ name: 'a', payload: { type: 'string', value: '', x: 1 } }]],
  ['an invalid json payload', [{ name: 'a', payload: { type: 'json', value: '{' } }]],
  ['a json payload that is not text', [{ name: 'a', payload: { type: 'json', value: {} } }]],
  ['an invalid number payload', [{ name: 'a', payload: { type: 'number', value: 'many' } }]],
  ['an empty number payload', [{ name: 'a', payload: { type: 'number', value: '' } }]],
  ['an override without values', [{ name: 'a', overrides: [{ contextName: 'userId' }] }]],
  ['an override of numbers', [{ name: 'a', overrides: [{ contextName: 'userId', values: [7] }] }]],
  ['an unknown override member', [{ name: 'a', overrides: [{ contextName: 'u', values: [], x: 1 }] }]],
  ['null', [null]],
];

onEveryStorage((start) => {
  describe('setting variants', () => {
    it('fills in the defaults and keeps the given order', async () => {
      const flags = await checkoutIn(start);
      const variants = await flags.setVariants(CHECKOUT, [GREEN, BLUE]);
      expect(variants).toEqual([
        { name: 'green', weightType: 'variable', weight: 900, stickiness: 'default', overrides: [] },
        { name: 'blue', weightType: 'fix', weight: 100, stickiness: 'default', overrides: [] },
      ]);
      expect((await flags.getFlag(CHECKOUT)).variants).toEqual(variants);
    });

    it('keeps payload, stickiness and overrides', async () => {
      const flags = await checkoutIn(start);
      const input = ['string', 'json', 'csv', 'number'].map((type) => ({
        name: type,
        stickiness: 'userId',
        payload: { type: type as 'json', value: '17' },
        overrides: [{ contextName: 'userId', values: ['7', '8'] }],
      }));
      expect(await flags.setVariants(CHECKOUT, input)).toMatchObject(input);
    });

    it('overwrites existing variants, and clears them with an empty list', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [BLUE, GREEN]);
      await flags.setVariants(CHECKOUT, [{ name: 'red' }]);
      expect(await weightsIn(flags)).toEqual([['red', 1000]]);
      expect(await flags.setVariants(CHECKOUT, [])).toEqual([]);
      expect(await weightsIn(flags)).toEqual([]);
    });

    it('accepts inherited names of objects', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(
        CHECKOUT,
        INHERITED_NAMES.map((name) => ({ name })),
      );
      expect(await weightsIn(flags)).toEqual(INHERITED_NAMES.map((name) => [name, 250]));
    });

    it('ignores the weight of a variable variant', async () => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [{ name: 'a' }, { name: 'b', weightType: 'variable', weight: 7 }]);
      expect(await weightsIn(flags)).toEqual([
        ['a', 500],
        ['b', 500],
      ]);
    });

    const shares = (...weights: number[]) => weights.map((weight, index) => ({ name: `v${index}`, weight }));
    const storedAs = async (flags: Flags) =>
      (await flags.getFlag(CHECKOUT)).variants.map(({ weightType, weight }) => `${weightType} ${weight}`);

    it.each<[readonly VariantInput[], readonly string[]]>([
      [shares(900, 100), ['fix 900', 'variable 100']],
      [shares(1, 998, 1), ['fix 1', 'fix 998', 'variable 1']],
      [shares(1000), ['variable 1000']],
      [shares(1000, 0), ['variable 1000', 'fix 0']],
      [
        [...shares(1000), { name: 'rest' }],
        ['variable 1000', 'fix 0'],
      ],
      [
        [...shares(600, 300), BLUE],
        ['fix 600', 'variable 300', 'fix 100'],
      ],
    ])('keeps weights without a type that add up to 1000: %j', async (input, expected) => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, input);
      expect(await storedAs(flags)).toEqual(expected);
      // Exports name the types, so that an import changes nothing.
      const definitions = await flags.definitions.export();
      expect((await flags.definitions.import(definitions)).differences).toEqual([]);
    });

    it('keeps shares in a change set and an import, and undoes them', async () => {
      const flags = await checkoutIn(start);
      const { id } = await flags.apply([{ op: 'setVariants', ref: CHECKOUT, input: shares(900, 100) }]);
      expect(await storedAs(flags)).toEqual(['fix 900', 'variable 100']);
      await flags.history.undo({ changeSet: String(id) });
      expect(await storedAs(flags)).toEqual([]);
      await flags.definitions.import({ version: 1, flags: [{ name: 'checkout', variants: shares(200, 800) }] });
      expect(await storedAs(flags)).toEqual(['fix 200', 'variable 800']);
    });

    it.each<readonly [string, readonly VariantInput[]]>([
      ['less', shares(900, 99)],
      ['more', shares(90, 1000)],
      ['nothing', shares(0, 0)],
      ['a part', [...shares(100), { name: 'rest' }]],
      ['everything, beside a variable variant', [...shares(1000), { name: 'rest', weightType: 'variable' }]],
    ])('refuses weights without a type that add up to %s, and says both ways to write them', async (_, input) => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'invalid_input', () => flags.setVariants(CHECKOUT, input));
      const definitions = { version: 1 as const, flags: [{ name: 'checkout', variants: input }] };
      for (const attempt of [() => flags.setVariants(CHECKOUT, input), () => flags.definitions.import(definitions)]) {
        await expect(attempt()).rejects.toThrow(
          /weights that add up to 1000,.* or set weightType fix for each weight to keep/,
        );
      }
    });

    it.each(FAULTY)('refuses %s', async (_, variants) => {
      const flags = await checkoutIn(start);
      await flags.setVariants(CHECKOUT, [GREEN]);
      const attempt = () => flags.setVariants(CHECKOUT, variants as VariantInput[]);
      await expectRefusal(flags, 'invalid_input', attempt);
    });

    it.each([{}, null, 'blue', { name: 'blue' }])('refuses %j, which is not a list', async (variants) => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'invalid_input', () =>
        flags.setVariants(CHECKOUT, variants as unknown as VariantInput[]),
      );
    });

    it('is one event, and none when nothing changes', async () => {
      const flags = await checkoutIn(start);
      expect(await factsOf(flags, () => flags.setVariants(CHECKOUT, []))).toEqual([]);
      expect(await factsOf(flags, () => flags.setVariants(CHECKOUT, [BLUE, GREEN]))).toEqual(['variants-updated']);
      expect(await factsOf(flags, () => flags.setVariants(CHECKOUT, [BLUE, GREEN]))).toEqual([]);
      expect(await factsOf(flags, () => flags.setVariants(CHECKOUT, []))).toEqual(['variants-updated']);
    });

    it('refuses an unknown flag', async () => {
      const flags = await checkoutIn(start);
      await expectRefusal(flags, 'flag_not_found', () => flags.setVariants({ ...DEFAULT, flag: 'none' }, []));
      await expectRefusal(flags, 'project_not_found', () =>
        flags.setVariants({ project: 'none', flag: 'checkout' }, []),
      );
    });
  });
});

/** Lists with fixed weights (≥ 0) and variable variants (-1) in any order. */
const weights: Arbitrary<readonly number[]> = array(integer({ min: -1, max: 400 }), { minLength: 1, maxLength: 12 });

function variantsOf(list: readonly number[]): VariantInput[] {
  return list.map((weight, n) =>
    weight < 0 ? { name: `v${n}` } : { name: `v${n}`, weightType: 'fix' as const, weight },
  );
}

function expectFairShares(variants: readonly Variant[], remainder: number): void {
  const shares = variants.filter(({ weightType }) => weightType === 'variable').map(({ weight }) => weight);
  const least = Math.floor(remainder / shares.length);
  const extra = remainder % shares.length;
  expect(shares).toEqual(shares.map((_, n) => (n < extra ? least + 1 : least)));
}

onEveryStorage((start) => {
  describe('the weights of variants', () => {
    it('are 334, 333 and 333 for three variable variants', async () => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      const variants = await flags.setVariants(CHECKOUT, variantsOf([-1, -1, -1]));
      expect(variants.map(({ weight }) => weight)).toEqual([334, 333, 333]);
    });

    it('add up to 1000, with fixed weights kept and the rest shared, or the list is refused', async () => {
      const flags = await start();
      await flags.createFlag(DEFAULT, { name: 'checkout' });
      await assert(
        asyncProperty(weights, async (list) => {
          const fixed = list.filter((weight) => weight >= 0);
          const sum = fixed.reduce((total, weight) => total + weight, 0);
          const attempt = flags.setVariants(CHECKOUT, variantsOf(list));
          if (sum >= 1000 || fixed.length === list.length) {
            expect((await refusalOf(attempt)).code).toBe('invalid_input');
            return;
          }
          const variants = await attempt;
          expect(variants.map(({ name }) => name)).toEqual(list.map((_, n) => `v${n}`));
          expect(variants.reduce((total, { weight }) => total + weight, 0)).toBe(1000);
          expect(variants.filter(({ weightType }) => weightType === 'fix').map(({ weight }) => weight)).toEqual(fixed);
          expectFairShares(variants, 1000 - sum);
        }),
        { numRuns: 100 },
      );
    });
  });
});
