import type { JsonPatch } from '../common.types.js';
import { withDepthGuard } from '../validation/json-patch.js';

type Items = readonly unknown[];
type Members = Readonly<Record<string, unknown>>;

/** What a value is compared with. */
export interface MergeSources {
  readonly known: unknown;
  /** Another object of the same content, of which the value may have parts: they are not looked through. */
  readonly twin?: unknown;
}

/**
 * A copy of a JSON value, made of a known one wherever the two are the same: the known one itself when all of it is. As in
 * JSON text, members that are `undefined` are left out, and items null; the order of members does not matter.
 */
export function mergeJson(value: unknown, { known, twin }: MergeSources): unknown {
  return copied(value, known, twin);
}

function copied(value: unknown, known: unknown, twin: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value === twin) return known;
  if (Array.isArray(value)) return copiedArray(value, arrayOf(known), arrayOf(twin));
  return copiedObject(value as Members, objectOf(known), objectOf(twin));
}

function copiedArray(items: Items, known: Items | undefined, twin: Items | undefined): Items {
  const copies = items.map((item, at) => copied(item ?? null, known?.[at], twin?.[at]));
  return known?.length === copies.length && copies.every((copy, at) => copy === known[at]) ? known : copies;
}

function copiedObject(value: Members, known: Members | undefined, twin: Members | undefined): Members {
  // A spread first, members replaced afterwards: `__proto__` stays a member.
  const copy: Record<string, unknown> = { ...value };
  let count = 0;
  let same = 0;
  for (const name of Object.keys(copy)) {
    const before = memberOf(known, name);
    const after = copied(copy[name], before, memberOf(twin, name));
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
 * A copy of the caller's object, as JSON keeps it: what the caller does to it later changes nothing here. Give it members
 * that were validated alone: what is ignored may be nested too deeply to be copied.
 */
export function cloneJson<T>(input: T): T {
  return JSON.parse(JSON.stringify(input));
}

/** A copy of a patch, whose values may be anything. */
export function clonePatch(patch: JsonPatch): JsonPatch {
  return withDepthGuard(() => cloneJson(patch));
}
