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

/** Freezes a value of `JSON.parse` recursively. All its empty lists become one, and equal short texts share memory. */
export function freezeParsed<T>(value: T): T {
  if (typeof value === 'string') return shareText(value) as T & string;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return freezeParsedList(value) as T;
  const container = value as Record<string, unknown>;
  for (const name in container) container[name] = freezeParsed(container[name]);
  return Object.freeze(value);
}

function freezeParsedList(list: unknown[]): readonly unknown[] {
  if (list.length === 0) return EMPTY_LIST;
  for (let at = 0; at < list.length; at++) {
    const item = list[at];
    if (typeof item === 'object' || list.length <= LONG_LIST) list[at] = freezeParsed(item);
  }
  return Object.freeze(list);
}

type Items = readonly unknown[];
type Members = Readonly<Record<string, unknown>>;

/**
 * Copies a JSON value, and reuses the equal parts of a known value. Returns the known value itself if both are equal.
 * As in JSON text, `undefined` members are omitted and `undefined` items become null. The order of members is ignored.
 */
export function mergeJson(value: unknown, known: unknown): unknown {
  // JSON has no negative zero.
  if (value === 0) return 0;
  if (Array.isArray(value)) return mergeArray(value, Array.isArray(known) ? known : undefined);
  return isContainer(value) ? mergeObject(value, isObject(known) ? known : undefined) : value;
}

function mergeArray(items: Items, known: Items | undefined): Items {
  const copies = items.map((item, at) => mergeJson(item ?? null, known?.[at]));
  return known?.length === copies.length && copies.every((copy, at) => copy === known[at]) ? known : copies;
}

function mergeObject(value: Members, known: Members | undefined): Members {
  // Spreads first and replaces members afterwards, so that `__proto__` stays an ordinary member.
  const copy: Record<string, unknown> = { ...value };
  let isSame = known !== undefined;
  for (const name of Object.keys(copy)) {
    const before = known && Object.hasOwn(known, name) ? known[name] : undefined;
    const after = mergeJson(copy[name], before);
    if (after === undefined) delete copy[name];
    else copy[name] = after;
    isSame &&= after === before;
  }
  return known && isSame && Object.keys(known).length === Object.keys(copy).length ? known : copy;
}

/** Copies a JSON value, as {@link mergeJson} does. Writes only the members that differ from a shallow copy. */
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
