import type { JsonPatch } from '../common.types.js';
import { withDepthGuard } from '../validation/json-patch.js';

type Items = readonly unknown[];
type Members = Readonly<Record<string, unknown>>;

/** The values that a merge compares with. */
export interface MergeSources {
  readonly known: unknown;
  /** Equal to `known`. The merge skips parts of the value that are identical to parts of the twin. */
  readonly twin?: unknown;
}

/**
 * Copies a JSON value, and reuses the equal parts of a known value. Returns the known value itself if both are equal.
 * As in JSON text, `undefined` members are omitted and `undefined` items become null. The order of members is ignored.
 */
export function mergeJson(value: unknown, { known, twin }: MergeSources): unknown {
  return mergeValue(value, known, twin);
}

function mergeValue(value: unknown, known: unknown, twin: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value === twin) return known;
  if (Array.isArray(value)) return mergeArray(value, arrayOf(known), arrayOf(twin));
  return mergeObject(value as Members, objectOf(known), objectOf(twin));
}

function mergeArray(items: Items, known: Items | undefined, twin: Items | undefined): Items {
  const copies = items.map((item, at) => mergeValue(item ?? null, known?.[at], twin?.[at]));
  return known?.length === copies.length && copies.every((copy, at) => copy === known[at]) ? known : copies;
}

function mergeObject(value: Members, known: Members | undefined, twin: Members | undefined): Members {
  // Spreads first and replaces members afterwards, so that `__proto__` stays an ordinary member.
  const copy: Record<string, unknown> = { ...value };
  let count = 0;
  let same = 0;
  for (const name of Object.keys(copy)) {
    const before = memberOf(known, name);
    const after = mergeValue(copy[name], before, memberOf(twin, name));
    if (after === undefined) {
      delete copy[name];
      continue;
    }
    copy[name] = after;
    count += 1;
    if (after === before) same += 1;
  }
  return known && same === count && Object.keys(known).length === count ? known : copy;
}

function memberOf(known: Members | undefined, name: string): unknown {
  return known && Object.hasOwn(known, name) ? known[name] : undefined;
}

function arrayOf(value: unknown): Items | undefined {
  return Array.isArray(value) ? value : undefined;
}

function objectOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}

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
