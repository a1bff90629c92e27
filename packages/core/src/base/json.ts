/*
 * Compares, copies and freezes JSON values.
 */

/**
 * Whether two JSON values are equal. The order of members does not matter, and absent members equal undefined ones.
 * Unlike Node's `isDeepStrictEqual` it ignores prototypes, which differ between the realms of a test runner.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  if (Array.isArray(one) && Array.isArray(other)) return isSameList(one, other);
  for (const member in one) {
    if (!isSameJson(one[member], Object.hasOwn(other, member) ? other[member] : undefined)) return false;
  }
  for (const member in other) if (other[member] !== undefined && !Object.hasOwn(one, member)) return false;
  return true;
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, at) => isSameJson(item, other[at]));
}

export function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Returns whether a JSON value is an object, not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isContainer(value) && !Array.isArray(value);
}

/**
 * Returns the new and old values of those `members` that the changes modify; undefined if none is modified. Ignores
 * absent members.
 */
export function pickChanged<T extends object>(
  state: T,
  changes: Partial<T>,
  members: readonly (keyof T)[],
): { readonly data: Partial<T>; readonly before: Partial<T> } | undefined {
  const data: Partial<T> = {};
  const before: Partial<T> = {};
  for (const member of members) {
    const value = changes[member];
    if (value === undefined || isSameJson(value, state[member])) continue;
    data[member] = value;
    before[member] = state[member];
  }
  return Object.keys(data).length > 0 ? { data, before } : undefined;
}

type Present<T, Member extends keyof T> = { readonly [Name in Member]?: Exclude<T[Name], undefined> };

/** Returns a copy of an object with only the named members, without those that are undefined. */
export function pickPresent<T extends object, Member extends keyof T>(
  value: T,
  members: readonly Member[],
): Present<T, Member> {
  const present = members.filter((member) => value[member] !== undefined);
  return Object.fromEntries(present.map((member) => [member, value[member]])) as Present<T, Member>;
}

/**
 * Copies a caller's object through JSON text, so that later changes by the caller have no effect. Pass validated
 * members only: ignored members may be nested too deeply to be copied.
 */
export function cloneJson<T>(input: T): T {
  return JSON.parse(JSON.stringify(input));
}

/** Copies a JSON value. Its objects have no prototypes. */
export function cloneWithoutPrototypes<T>(value: T): T {
  return withoutPrototypes(JSON.parse(JSON.stringify(value))) as T;
}

/**
 * Changes arrays in place and replaces objects. A reviver for `JSON.parse` would take ten times as long.
 */
function withoutPrototypes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      if (typeof value[at] === 'object') value[at] = withoutPrototypes(value[at]);
    }
    return value;
  }
  const bare: Record<string, unknown> = Object.create(null);
  for (const [name, member] of Object.entries(value)) bare[name] = withoutPrototypes(member);
  return bare;
}

/** Freezes a value recursively. Assumes that a frozen object is frozen throughout. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(Object.freeze(value))) if (typeof member === 'object') deepFreeze(member);
  return value;
}

/** A flag has several empty lists, and there may be tens of thousands of flags. */
const EMPTY_LIST: readonly unknown[] = Object.freeze([]);

/** The number of shared texts, and the length of the longest one. The table of them stays far below a megabyte. */
const SHARED_TEXTS = { count: 4096, length: 100 };
/** The items of a longer list are unlikely to occur elsewhere. */
const LONG_LIST = 1000;

const sharedTexts = new Map<string, string>();

/** Returns the equal text of an earlier document, if there is one: many flags have the same users in their lists. */
function shareText(text: string): string {
  const known = sharedTexts.get(text);
  if (known !== undefined || text.length > SHARED_TEXTS.length) return known ?? text;
  if (sharedTexts.size >= SHARED_TEXTS.count) sharedTexts.clear();
  sharedTexts.set(text, text);
  return text;
}

/**
 * Freezes a JSON value in place, recursively, and reuses the equal parts of a frozen known value. Returns the known value
 * itself if both are equal; the order of members is ignored. All empty lists become one, and equal short texts share
 * memory. The caller must own the value, because its parts are replaced. A value that is frozen already is not changed.
 */
export function freezeJson(value: unknown, known?: unknown): unknown {
  if (typeof value === 'string') return value === known ? known : shareText(value);
  // JSON has no negative zero.
  if (value === 0) return 0;
  if (typeof value !== 'object' || value === null) return value;
  if (Object.isFrozen(value)) return isSameJson(value, known) ? known : value;
  if (Array.isArray(value)) return freezeList(value, Array.isArray(known) ? known : undefined);
  return freezeMembers(value as Record<string, unknown>, isObject(known) ? known : undefined);
}

function freezeList(list: unknown[], known: readonly unknown[] | undefined): readonly unknown[] {
  if (list.length === 0) return EMPTY_LIST;
  let isSame = known?.length === list.length;
  for (let at = 0; at < list.length; at++) {
    const [item, before] = [list[at], known?.[at]];
    if (typeof item === 'object' || list.length <= LONG_LIST) list[at] = freezeJson(item, before);
    isSame &&= list[at] === before;
  }
  return known && isSame ? known : Object.freeze(list);
}

function freezeMembers(container: Record<string, unknown>, known: Readonly<Record<string, unknown>> | undefined) {
  let count = 0;
  let isSame = known !== undefined;
  for (const name in container) {
    const before = known && Object.hasOwn(known, name) ? known[name] : undefined;
    const after = freezeJson(container[name], before);
    container[name] = after;
    isSame &&= after === before;
    count++;
  }
  return known && isSame && Object.keys(known).length === count ? known : Object.freeze(container);
}

/**
 * Copies a JSON value. As in JSON text, `undefined` members are omitted and `undefined` items become null. Writes only the
 * members that differ from a shallow copy.
 */
export function copyJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => copyJson(item ?? null));
  const copy: Record<string, unknown> = { ...value };
  for (const name in copy) {
    const member = copy[name];
    if (member === undefined) delete copy[name];
    else if (typeof member === 'object') copy[name] = copyJson(member);
  }
  return copy;
}

/** Returns JSON text that is equal for equal values: members are sorted, and `undefined` ones are left out. */
export function canonicalJson(value: unknown): string {
  if (!isContainer(value) || typeof value.toJSON === 'function') return JSON.stringify(value) ?? 'null';
  if (Array.isArray(value)) {
    // The stringifier is faster for long lists of values.
    return value.some(isContainer) ? `[${value.map(canonicalJson).join()}]` : JSON.stringify(value);
  }
  const names = Object.keys(value).filter((name) => value[name] !== undefined);
  return `{${names
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalJson(value[name])}`)
    .join()}}`;
}
