import type { Engine } from '../changes/engine.js';
import { cloneJson, clonePatch } from '../replica/clone-json.js';
import { changeFlag } from './change-flag.js';
import type { VariantOperations } from './variant.types.js';
import { patchVariants, setVariants } from './variants.decide.js';

/** A flag's variants, in all environments at once. */
export function variantOperations(engine: Engine): VariantOperations {
  const { validate } = engine;
  return {
    async setVariants(ref, input, context) {
      const variants = cloneJson(validate.variants(input));
      const { state } = await changeFlag(engine, { ref, context }, (flag) => setVariants(flag, variants));
      return state.variants;
    },

    async patchVariants(ref, input, context) {
      const change = { patch: clonePatch(validate.jsonPatch(input)), validate: validate.variants };
      const { state } = await changeFlag(engine, { ref, context }, (flag) => patchVariants(flag, change));
      return state.variants;
    },
  };
}
