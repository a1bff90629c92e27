/* Definitions come from storage and other services, so their types are checked when they are read. */

/**
 * Returns a list; absent means empty.
 *
 * @throws TypeError if the value is not an array
 */
export function toList<Item>(value: readonly Item[] | null | undefined, what: string): readonly Item[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array`);
  return value;
}

/** One empty list, because an instance may have tens of thousands of flags. */
export const NONE: readonly never[] = Object.freeze([]);

/** Converts the items of a list. An absent list counts as empty. */
export function mapList<Item, Result>(
  value: readonly Item[] | null | undefined,
  what: string,
  convert: (item: Item) => Result,
): readonly Result[] {
  const list = toList(value, what);
  return list.length === 0 ? NONE : list.map(convert);
}

/** Returns a list of text without empty entries. Numbers and booleans are converted. */
export function toTexts(value: readonly string[] | null | undefined, what: string): string[] {
  const entries: readonly unknown[] = toList(value, what);
  return entries
    .filter((entry) => entry !== '' && entry !== null && entry !== undefined)
    .map((entry) => toText(entry, what));
}

/** Returns text, or undefined if absent. Numbers and booleans are converted. */
export function toOptionalText(value: unknown, what: string): string | undefined {
  return value === undefined || value === null ? undefined : toText(value, what);
}

export function toText(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError(`${what} must be text`);
}

/** Converts a number or numeric text; returns NaN for other values. */
export function toNumber(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}

/** Returns undefined if the value has another type, or if reading it throws. */
export function readKey<Key>(read: () => Key, type: 'string' | 'number' | 'boolean'): NonNullable<Key> | undefined {
  try {
    const key = read();
    return typeof key === type ? (key as NonNullable<Key>) : undefined;
  } catch {
    return undefined;
  }
}
