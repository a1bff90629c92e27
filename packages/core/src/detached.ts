import type { JsonPatch } from './api/json-patch.js';
import { unlessTooDeep } from './domain/json-patch-refusal.js';

/**
 * A copy of the caller's object, as JSON keeps it: what the caller does to it later changes nothing here. Give it members
 * that were validated alone: what is ignored may be nested too deeply to be copied.
 */
export function detached<T>(input: T): T {
  return JSON.parse(JSON.stringify(input));
}

/** A copy of a patch, whose values may be anything. */
export function detachedPatch(patch: JsonPatch): JsonPatch {
  return unlessTooDeep(() => detached(patch));
}
