import { distance } from 'fastest-levenshtein';

/** A name at a larger edit distance is a different word, not a misspelling. */
const MAX_EDITS = 3;

/**
 * Describes an unknown option, such as a misspelt one, and suggests the closest known option. Returns undefined if all
 * options are known.
 *
 * @param known the names of all options
 * @example
 * const problem = describeUnknownOption({ enviroment: 'production' }, ['environment']);
 * // 'has no option enviroment; did you mean environment?'
 */
export function describeUnknownOption(options: object, known: readonly string[]): string | undefined {
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return undefined;
  const [closest] = closestNames(unknown, known);
  const shown = unknown.slice(0, 50);
  if (closest !== undefined) return `has no option ${shown}; did you mean ${closest}?`;
  return `has no option ${shown}; the options are ${known.join(', ')}.`;
}

/**
 * Describes why a value is not the `Flags` that `openFlags` resolves to, most often because it is a promise. Returns
 * undefined for `Flags`.
 *
 * @example
 * const problem = describeNonFlags(openFlags({ storage: memoryStorage() }));
 * // 'needs flags, but got a promise: await openFlags(…) first.'
 */
export function describeNonFlags(value: unknown): string | undefined {
  const { then, configuration, forContext } = Object(value) as Record<string, unknown>;
  if (typeof then === 'function') return 'needs flags, but got a promise: await openFlags(…) first.';
  if (typeof configuration === 'function' && typeof forContext === 'function') return undefined;
  if (typeof value === 'function') return 'needs flags, but got a function: pass await openFlags(…).';
  return `needs flags as its first argument: pass await openFlags(…).`;
}

/** Describes why a value is not a storage. Returns undefined for a storage. */
export function describeNonStorage(value: unknown): string | undefined {
  if (isStorage(value)) return undefined;
  if (typeof value === 'function') {
    const name = value.name || 'sqliteStorage';
    const call = name === 'memoryStorage' ? 'memoryStorage()' : `${name}(…)`;
    return `storage is the function ${name}, which was not called: write { storage: ${call} }.`;
  }
  if (typeof value === 'string')
    return `storage is a string: write { storage: sqliteStorage('${value.slice(0, 100)}') }.`;
  return "storage is missing or is not a storage: write { storage: sqliteStorage('./flags.db') } or { storage: memoryStorage() }.";
}

export function isStorage(value: unknown): boolean {
  const { get, commit } = Object(value) as Record<string, unknown>;
  return typeof get === 'function' && typeof commit === 'function';
}

/** Returns the known names that a misspelt name may mean, the closest one first. */
export function closestNames(name: string, known: readonly string[]): readonly string[] {
  return known
    .map((option) => ({ option, edits: distance(name.toLowerCase().slice(0, 50), option.toLowerCase()) }))
    .filter(({ option, edits }) => edits <= Math.min(MAX_EDITS, option.length / 2))
    .sort((one, other) => one.edits - other.edits)
    .map(({ option }) => option);
}
