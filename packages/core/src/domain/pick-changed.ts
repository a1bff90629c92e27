import { isSameJson } from './json-equality.js';

/**
 * The members, of those named, that the changes really change: their new values and their old ones. Undefined when all
 * stay as they are. Absent members are left alone.
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
