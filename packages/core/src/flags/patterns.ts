import { pause } from '../base/paced.js';
import { isPattern } from '../evaluation/constraints.js';
import type { FoundPattern } from './faults.js';

/** The rule for the value of a `REGEX`. */
const PATTERN = 'must be a regular expression in RE2 syntax';

/** More invalid patterns than anybody corrects at once. Compiling stops there. */
const MOST_ISSUES = 10;

/** Compiles patterns, in slices: compiling one takes up to some ten milliseconds. Returns the first ten invalid ones. */
export async function findInvalidPatterns<Found extends FoundPattern>(
  patterns: Iterable<Found>,
): Promise<readonly (Found & { readonly message: string })[]> {
  const invalid: (Found & { readonly message: string })[] = [];
  for (const found of patterns) {
    await pause();
    if (!isPattern(found.pattern)) invalid.push({ ...found, message: PATTERN });
    if (invalid.length === MOST_ISSUES) break;
  }
  return invalid;
}
