import { isSameJson } from '../../base/json.js';
import { assertNotArchived, type FlagState } from './flag.js';
import type { FlagEvent } from './flag.kind.js';
import type { Variant, VariantInput } from './variant.types.js';
import { TOTAL_WEIGHT, withWeightTypes } from './variants.schema.js';

export function setVariants(flag: FlagState, input: readonly VariantInput[]): FlagEvent[] {
  assertNotArchived(flag);
  const variants = toVariants(input);
  if (isSameJson(variants, flag.variants)) return [];
  return [{ type: 'variants-updated', data: { variants }, before: { variants: flag.variants } }];
}

/** Returns variants with their types, weights and defaults. */
export function toVariants(input: readonly VariantInput[]): readonly Variant[] {
  return distributeWeight(withWeightTypes(input).map(toVariant));
}

/** Ignores the given weight of a variable variant, which is computed later. */
function toVariant(input: VariantInput): Variant {
  const { name, weightType = 'variable', weight = 0, stickiness = 'default', payload, overrides = [] } = input;
  return {
    name,
    weightType,
    weight,
    stickiness,
    ...(payload && { payload }),
    overrides,
  };
}

/**
 * Shares the rest of 1000 equally among the variable variants. If it does not divide evenly, the first ones get one
 * more.
 */
function distributeWeight(variants: readonly Variant[]): readonly Variant[] {
  const fixed = variants.filter(({ weightType }) => weightType === 'fix');
  const remainder = TOTAL_WEIGHT - fixed.reduce((sum, { weight }) => sum + weight, 0);
  const sharers = variants.length - fixed.length;
  const share = Math.floor(remainder / sharers);
  let leftOver = remainder % sharers;
  return variants.map((variant) => {
    if (variant.weightType === 'fix') return variant;
    return { ...variant, weight: leftOver-- > 0 ? share + 1 : share };
  });
}
