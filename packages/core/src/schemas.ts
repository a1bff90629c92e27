import type { JsonSchema } from './base/primitives.js';
import { DEFINITION_SCHEMAS } from './features/definitions/check-definitions.js';
import { previewQuery } from './features/environments/plan.operations.js';
import { rolloutQuery } from './features/rollouts/rollout.schema.js';
import { INPUTS } from './input-schemas.js';
import { optionsSchema } from './options.js';

/**
 * Every schema that this package validates with. `scripts/compile-schemas.mjs` reads the list, without an engine, and writes
 * `base/compiled-schemas.ts`.
 */
export const SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  ...Object.fromEntries(Object.entries(INPUTS).map(([name, { schema }]) => [name, schema])),
  ...DEFINITION_SCHEMAS,
  options: optionsSchema,
  previewQuery,
  rolloutQuery,
};
