import type { VariantOperations } from '../api/variants.js';
import { detached, detachedPatch } from '../detached.js';
import { patchVariants, setVariants } from '../domain/variants.js';
import type { Engine } from '../engine/engine.js';
import { changeFlag } from './change-flag.js';

/** A flag's variants, in all environments at once. */
export function variantOperations(engine: Engine): VariantOperations {
  const { validate } = engine;
  return {
    async setVariants(ref, input, context) {
      const variants = detached(validate.variants(input));
      const { state } = await changeFlag(engine, { ref, context }, (flag) => setVariants(flag, variants));
      return state.variants;
    },

    async patchVariants(ref, input, context) {
      const change = { patch: detachedPatch(validate.jsonPatch(input)), validate: validate.variants };
      const { state } = await changeFlag(engine, { ref, context }, (flag) => patchVariants(flag, change));
      return state.variants;
    },
  };
}
