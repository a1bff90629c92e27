import { isObject } from '../base/json.js';
import { LIMITS } from '../base/limits.js';
import { pause } from '../base/paced.js';
import { invalidInput } from '../base/validator.js';
import type { ErrorDetail } from '../errors.js';
import { isCompilable, isPattern } from '../evaluation/constraints.js';
import { compilationTime } from '../evaluation/weight.js';
import { PATTERN } from './strategies.schema.js';

interface FoundPattern {
  readonly pattern: string;
  /** A JSON Pointer to it in the input. */
  readonly path: string;
}

/**
 * Yields the patterns in the constraints of a segment, a strategy, an environment, or a flag of definitions. The input
 * need not be valid.
 */
function* patternsOf(input: unknown, path = ''): Generator<FoundPattern> {
  if (!isObject(input)) return;
  const { constraints } = input;
  for (const [index, constraint] of (Array.isArray(constraints) ? constraints : []).entries()) {
    const { operator, value } = Object(constraint) as { readonly operator?: unknown; readonly value?: unknown };
    const place = `${path}/constraints/${index}/value`;
    if (operator === 'REGEX' && typeof value === 'string') yield { pattern: value, path: place };
  }
  for (const member of ['strategies', 'environments'] as const) {
    const items = input[member];
    if (typeof items !== 'object' || items === null) continue;
    for (const [key, item] of Object.entries(items)) {
      yield* patternsOf(item, `${path}/${member}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    }
  }
}

/**
 * Sums the estimated time to compile the patterns of one call, before any is compiled. Safe with inputs that are not
 * valid: it leaves out patterns that are refused anyway.
 */
export class PatternMeter {
  private microseconds = 0;

  get isFull(): boolean {
    return this.microseconds > LIMITS.compilation;
  }

  /** @throws FlagsError `invalid_input` if the patterns so far take too long together */
  add(input: unknown): void {
    for (const { pattern, path } of patternsOf(input)) {
      if (pattern.length > LIMITS.pattern) continue;
      const time = compilationTime(pattern);
      // An uncompilable pattern is refused by itself.
      this.microseconds += isCompilable(pattern) ? time : pattern.length;
      if (!this.isFull) continue;
      const message =
        'takes too long to compile together with the regular expressions before it; use fewer or simpler ones, or split the call';
      throw invalidInput([{ message, path }]);
    }
  }
}

/** More invalid patterns than anybody corrects at once. Compiling stops there. */
const MOST_ISSUES = 10;

/**
 * Compiles the patterns of a valid input, in slices: compiling one takes up to some ten milliseconds.
 *
 * @throws FlagsError `invalid_input` with the first ten invalid patterns, or if all take too long together
 */
export async function assertPatterns(input: object, place = ''): Promise<void> {
  new PatternMeter().add(input);
  const issues: ErrorDetail[] = [];
  for (const { pattern, path } of patternsOf(input)) {
    await pause();
    if (!isPattern(pattern)) issues.push({ message: `must be ${PATTERN}`, path: `${place}${path}` });
    if (issues.length === MOST_ISSUES) break;
  }
  if (issues.length > 0) throw invalidInput(issues);
}
