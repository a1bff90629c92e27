import { compareCodePoints } from '../base/collections.js';
import type { EnvironmentConfiguration, FlagConfiguration } from '../evaluation/evaluation.types.js';

/**
 * Finds a flag in a configuration by binary search. Returns undefined for an unknown flag.
 *
 * @example
 * const isStale = findFlag(flags.configuration(), 'checkout')?.stale;
 */
export function findFlag({ flags }: EnvironmentConfiguration, name: string): FlagConfiguration | undefined {
  return findSorted(flags, (flag) => compareCodePoints(flag.name, name));
}

/** Finds an item of a sorted list. `order` is negative for items before it, and positive for items after it. */
export function findSorted<Item extends object>(
  items: readonly Item[],
  order: (item: Item) => number,
): Item | undefined {
  let from = 0;
  let to = items.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const candidate = items[middle];
    if (candidate === undefined) return undefined;
    const difference = order(candidate);
    if (difference === 0) return candidate;
    if (difference < 0) from = middle + 1;
    else to = middle;
  }
  return undefined;
}
