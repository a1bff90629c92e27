import type { Configuration, FlagConfiguration } from '../api/evaluation.js';
import { compareCodePoints } from '../code-point-order.js';

/**
 * The flag of this name in a configuration; undefined when there is none. By halves, since flags are in code-point order.
 *
 * @example
 * const isStale = findFlag(flags.configuration(), 'checkout')?.stale;
 */
export function findFlag({ flags }: Configuration, name: string): FlagConfiguration | undefined {
  let from = 0;
  let to = flags.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const candidate = flags[middle];
    if (candidate === undefined) return undefined;
    const order = compareCodePoints(candidate.name, name);
    if (order === 0) return candidate;
    if (order < 0) from = middle + 1;
    else to = middle;
  }
  return undefined;
}
