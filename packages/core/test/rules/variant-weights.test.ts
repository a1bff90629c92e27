import { type Arbitrary, array, assert, asyncProperty, integer } from 'fast-check';
import type { Variant, VariantInput } from '../../src/index.js';
import { onEveryStorage } from './on-every-storage.js';
import { CHECKOUT, DEFAULT } from './references.js';
import { refusalOf } from './refusal.js';

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

    it('add up to 1000, keep what is fixed and share the rest, or the list is refused', async () => {
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
