import { RE2JS, RE2Set } from 're2js';
import type { ConstraintDefinition } from '../../api/definitions.js';
import { LIMITS } from '../../validation/limits.js';
import { notices } from '../notices.js';
import { patternWeight } from './pattern-weight.js';
import type { ValueTest } from './value-test.js';

/** Compiled patterns in memory: a small one takes ten kilobytes, a large one a hundred. */
const CACHED = 500;
/** In bytes, per pattern. The engine's default of 8 MiB would let one context fill the memory through many patterns. */
const AUTOMATON = 16 * 1024;

const TOO_LONG = `A context value has more than ${LIMITS.patternText} characters and matches no regular expression.`;

const cache = new Map<string, RE2Set>();

/**
 * RE2 semantics in linear time: the built-in engine takes exponential time for some patterns. Contexts come from whoever
 * asks: a longer text matches nothing.
 */
export function matchesPattern({ value: pattern, caseInsensitive }: ConstraintDefinition): ValueTest | undefined {
  if (typeof pattern !== 'string') return undefined;
  // Its strategy or segment costs too much and is not evaluated.
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

/** The least recently used pattern makes room. Keys are the flags, one digit, and the pattern. */
function compiled(key: string): RE2Set | undefined {
  const known = cache.get(key) ?? compilePattern(Number(key[0]), key.slice(1));
  if (known === undefined) return undefined;
  cache.delete(key);
  cache.set(key, known);
  const [oldest] = cache.size > CACHED ? cache.keys() : [];
  if (oldest !== undefined) cache.delete(oldest);
  return known;
}

function compilePattern(flags: number, pattern: string): RE2Set | undefined {
  try {
    const set = new RE2Set(RE2Set.UNANCHORED, flags, AUTOMATON);
    set.add(pattern);
    set.compile();
    return set;
  } catch {
    return undefined;
  }
}
