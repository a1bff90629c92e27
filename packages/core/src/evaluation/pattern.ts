import { RE2JS, RE2Set } from 're2js';
import { LIMITS } from '../validation/limits.js';
import { patternWeight } from './cost.js';
import type { ConstraintDefinition } from './definitions.types.js';
import { notices } from './problem.js';

/** Whether the text is a valid RE2 pattern within the limits of length and weight. */
export function isPattern(text: string): boolean {
  if (text.length > LIMITS.pattern || patternWeight(text) > LIMITS.patternWeight) return false;
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}

/** The number of compiled patterns in memory. One takes 10 to 100 kilobytes. */
const CACHED_PATTERNS = 500;
/** Bytes per pattern. The library's default of 8 MiB would let one context fill the memory through many patterns. */
const AUTOMATON_BYTES = 16 * 1024;

const TOO_LONG = `A context value has more than ${LIMITS.patternText} characters and matches no regular expression.`;

const cache = new Map<string, RE2Set>();

/**
 * Compiles a `REGEX` constraint with RE2 semantics, which match in linear time. The built-in engine takes exponential
 * time for some patterns. Contexts are untrusted, so a long text matches nothing.
 */
export function matchesPattern({
  value: pattern,
  caseInsensitive,
}: ConstraintDefinition): ((value: string | undefined) => boolean) | undefined {
  if (typeof pattern !== 'string') return undefined;
  // The strategy or segment of this pattern exceeds the cost limit and is not evaluated.
  if (patternWeight(pattern) > LIMITS.patternWeight) return () => false;
  const key = `${caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0}${pattern}`;
  if (compiled(key) === undefined) return undefined;
  return (value) => {
    if (value === undefined) return false;
    if (value.length <= LIMITS.patternText) return (compiled(key)?.match(value).length ?? 0) > 0;
    notices.add({ code: 'context_value_too_long', message: TOO_LONG });
    return false;
  };
}

/**
 * Returns the compiled pattern from a least-recently-used cache. The key is one digit for the flags, and the pattern.
 */
function compiled(key: string): RE2Set | undefined {
  const known = cache.get(key) ?? compilePattern(Number(key[0]), key.slice(1));
  if (known === undefined) return undefined;
  cache.delete(key);
  cache.set(key, known);
  const [oldest] = cache.size > CACHED_PATTERNS ? cache.keys() : [];
  if (oldest !== undefined) cache.delete(oldest);
  return known;
}

function compilePattern(flags: number, pattern: string): RE2Set | undefined {
  try {
    const set = new RE2Set(RE2Set.UNANCHORED, flags, AUTOMATON_BYTES);
    set.add(pattern);
    set.compile();
    return set;
  } catch {
    return undefined;
  }
}
