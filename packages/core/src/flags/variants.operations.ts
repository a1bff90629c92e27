import type { Engine } from '../changes/engine.js';
import type { ChangeContext, FlagRef, JsonPatch } from '../common.types.js';
import { cloneJson, clonePatch } from '../replica/clone-json.js';
import { changeFlag } from './change-flag.js';
import type { Variant, VariantInput } from './variant.types.js';
import * as variantRules from './variants.decide.js';

export async function setVariants(
  engine: Engine,
  ref: FlagRef,
  input: readonly VariantInput[],
  context?: ChangeContext,
): Promise<readonly Variant[]> {
  const { validate } = engine;
  const variants = cloneJson(validate.variants(input));
  const { state } = await changeFlag(engine, { ref, context }, (flag) => variantRules.setVariants(flag, variants));
  return state.variants;
}

export async function patchVariants(
  engine: Engine,
  ref: FlagRef,
  input: JsonPatch,
  context?: ChangeContext,
): Promise<readonly Variant[]> {
  const { validate } = engine;
  const change = { patch: clonePatch(validate.jsonPatch(input)), validate: validate.variants };
  const { state } = await changeFlag(engine, { ref, context }, (flag) => variantRules.patchVariants(flag, change));
  return state.variants;
}
