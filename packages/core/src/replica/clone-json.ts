import type { JsonPatch } from '../common.types.js';
import { withDepthGuard } from '../validation/json-patch.js';

/**
 * Copies a caller's object by way of JSON text, so that later changes by the caller have no effect. Pass validated
 * members only: ignored members may be nested too deeply to be copied.
 */
export function cloneJson<T>(input: T): T {
  return JSON.parse(JSON.stringify(input));
}

/** Copies a patch. Guards the depth, because the values of a patch are not validated. */
export function clonePatch(patch: JsonPatch): JsonPatch {
  return withDepthGuard(() => cloneJson(patch));
}
