/** Definitions come from storage and from other services: what the types promise is checked where it is read. */

/** A list, none when absent. */
export function listOf<Item>(value: readonly Item[] | null | undefined, what: string): readonly Item[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError(`${what} must be an array`);
  return value;
}

/** A list of text without its empty entries; numbers and booleans count as their string. */
export function textsOf(value: readonly string[] | null | undefined, what: string): string[] {
  const entries: readonly unknown[] = listOf(value, what);
  return entries
    .filter((entry) => entry !== '' && entry !== null && entry !== undefined)
    .map((entry) => text(entry, what));
}

/** Text, none when absent; a number or boolean counts as its string. */
export function textOrNone(value: unknown, what: string): string | undefined {
  return value === undefined || value === null ? undefined : text(value, what);
}

export function text(value: unknown, what: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new TypeError(`${what} must be text`);
}

/** The number that a value stands for, NaN when it stands for none. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN;
}
