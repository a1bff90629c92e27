import { LIMITS } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration/shared';
import { optionsSchema } from './options.js';

/** Every schema that this package validates with. `scripts/compile-schemas.mjs` writes `compiled-schemas.ts` from it. */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  options: optionsSchema,
  secrets: { type: 'array', maxItems: 100, items: { type: 'string', minLength: 1, maxLength: LIMITS.secret } },
};
