/**
 * Whether two JSON values are equal; the order of members does not matter. Unlike Node's `isDeepStrictEqual` it ignores
 * prototypes, which differ between the realms of a test runner.
 */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  if (Array.isArray(one) && Array.isArray(other)) return isSameList(one, other);
  const members = Object.keys(one);
  if (members.length !== Object.keys(other).length) return false;
  return members.every((member) => Object.hasOwn(other, member) && isSameJson(one[member], other[member]));
}

/** Compares without converting indexes to text: lists may have hundreds of thousands of items. */
function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, at) => isSameJson(item, other[at]));
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
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

/** Freezes a value recursively. Assumes that a frozen object is frozen throughout. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(Object.freeze(value))) deepFreeze(member);
  return value;
}
