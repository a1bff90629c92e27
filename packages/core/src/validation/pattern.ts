import { RE2JS } from 're2js';
import { patternWeight } from '../evaluation/cost.js';
import { LIMITS } from './limits.js';

/** Whether a text is a regular expression in RE2's syntax, which is matched in linear time, of a reasonable size. */
export function isPattern(text: string): boolean {
  if (text.length > LIMITS.pattern || patternWeight(text) > LIMITS.patternWeight) return false;
  try {
    RE2JS.compile(text);
    return true;
  } catch {
    return false;
  }
}
