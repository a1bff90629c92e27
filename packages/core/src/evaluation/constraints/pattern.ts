import { RE2JS } from 're2js';
import type { ConstraintDefinition } from '../../api/definitions.js';
import type { ValueTest } from './value-test.js';

/** A large pattern looks at a text for some microseconds per character. */
const LONGEST_TEXT = 10_000;

/**
 * RE2 semantics in linear time: the built-in engine takes exponential time for some patterns. Contexts come from whoever
 * asks: a longer text matches nothing.
 */
export function matchesPattern(constraint: ConstraintDefinition): ValueTest | undefined {
  const pattern = compilePattern(constraint);
  return pattern && ((value) => value !== undefined && value.length <= LONGEST_TEXT && pattern.test(value));
}

function compilePattern({ value, caseInsensitive }: ConstraintDefinition): RE2JS | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    return RE2JS.compile(value, caseInsensitive ? RE2JS.CASE_INSENSITIVE : 0);
  } catch {
    return undefined;
  }
}
