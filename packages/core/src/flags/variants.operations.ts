import type { Engine, PreparedChange } from '../changes/engine.js';
import type { FlagRef, JsonPatch } from '../common.types.js';
import { cloneJson } from '../validation/json.js';
import { clonePatch } from '../validation/json-patch.js';
import { changeFlag } from './change-flag.js';
import type { Variant, VariantInput } from './variant.types.js';
import * as variantRules from './variants.decide.js';

export function setVariants(
  { validate }: Engine,
  ref: FlagRef,
  input: readonly VariantInput[],
): PreparedChange<readonly Variant[]> {
  const variants = cloneJson(validate.variants(input));
  return changeFlag(ref, {
    decide: (flag) => variantRules.setVariants(flag, variants),
    result: async (changed) => (await changed()).state.variants,
  });
}

export function patchVariants(
  { validate }: Engine,
  ref: FlagRef,
  input: JsonPatch,
): PreparedChange<readonly Variant[]> {
  const change = { patch: clonePatch(validate.jsonPatch(input)), validate: validate.variants };
  return changeFlag(ref, {
    decide: (flag) => variantRules.patchVariants(flag, change),
    result: async (changed) => (await changed()).state.variants,
  });
}
