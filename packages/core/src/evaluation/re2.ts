import { RE2JS, RE2Set } from 're2js';
import { RecentMap } from '../base/recent-map.js';
import { isWithinPatternBound } from './pattern-bound.js';
import type { Patterns } from './patterns.types.js';

/*
 * The only file that imports RE2, which takes longer to load than all of evaluation. Evaluation loads it by
 * `load-patterns.ts` when there is a pattern.
 */

/** The number of compiled patterns in memory. One takes 10 to 100 kilobytes. */
const CACHED_PATTERNS = 500;
/** Bytes per pattern. The library's default of 8 MiB would let one context fill the memory through many patterns. */
const AUTOMATON_BYTES = 16 * 1024;

const INVALID = Symbol('not a pattern');

/** By one digit for the flags, and the pattern. */
const compiled = new RecentMap<string, RE2Set | typeof INVALID>(CACHED_PATTERNS);
/** Tests of one pattern often follow each other. */
let latest: { readonly key: string; readonly set: RE2Set | typeof INVALID } | undefined;

/** Compiles patterns with RE2. */
export const patterns: Patterns = Object.freeze<Patterns>({
  isPattern(text) {
    if (!isWithinPatternBound(text)) return false;
    try {
      RE2JS.compile(text);
      return true;
    } catch {
      return false;
    }
  },
  createTest(pattern, ignoresCase) {
    const key = `${ignoresCase ? RE2JS.CASE_INSENSITIVE : 0}${pattern}`;
    return {
      isValid: () => setOf(key) !== INVALID,
      matches(text) {
        const set = setOf(key);
        return set !== INVALID && set.match(text).length > 0;
      },
    };
  },
});

function setOf(key: string): RE2Set | typeof INVALID {
  if (latest?.key === key) return latest.set;
  const set = compiled.get(key) ?? compile(key);
  compiled.set(key, set);
  latest = { key, set };
  return set;
}

function compile(key: string): RE2Set | typeof INVALID {
  try {
    const set = new RE2Set(RE2Set.UNANCHORED, Number(key[0]), AUTOMATON_BYTES);
    set.add(key.slice(1));
    set.compile();
    return set;
  } catch {
    return INVALID;
  }
}
