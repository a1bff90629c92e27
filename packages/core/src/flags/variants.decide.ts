import type { JsonPatch } from '../common.types.js';
import { isSameJson } from '../validation/json.js';
import { applyPatch } from '../validation/json-patch.js';
import type { FlagEvent, FlagState } from './flag.js';
import { assertNotArchived } from './lifecycle.decide.js';
import type { Variant, VariantInput } from './variant.types.js';
import { TOTAL_WEIGHT } from './variants.schema.js';

export function setVariants(flag: FlagState, input: readonly VariantInput[]): FlagEvent[] {
  assertNotArchived(flag);
  const variants = distributeWeight(input.map(toVariant));
  if (isSameJson(variants, flag.variants)) return [];
  return [{ type: 'variants-updated', data: { variants }, before: { variants: flag.variants } }];
}

/** What patching variants needs from outside the decision. */
export interface VariantsPatch {
  readonly patch: JsonPatch;
  readonly validate: (input: unknown) => readonly VariantInput[];
}

export function patchVariants(flag: FlagState, { patch, validate }: VariantsPatch): FlagEvent[] {
  assertNotArchived(flag);
  return setVariants(flag, validate(applyPatch(flag.variants, patch, {})));
}

/** The weight of a variable variant is computed later; what the input says of it does not count. */
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
 * Shares what the fixed weights leave of 1000 equally among the variable variants; what is left over by rounding goes
 * one each to the first of them, in list order.
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
