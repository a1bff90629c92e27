/**
 * Compiles and tests regular expressions with RE2, which matches in linear time. The built-in engine takes exponential time
 * for some patterns, so evaluation never uses it. The one implementation is `patterns` of `@flags/core/evaluate/patterns`.
 */
export interface Patterns {
  /** Whether the text is a valid RE2 pattern within the limits. Compiles it, for some ten milliseconds. */
  isPattern(text: string): boolean;
  /** Returns the test of a pattern. The first call of a method compiles the pattern. */
  createTest(pattern: string, ignoresCase: boolean): PatternTest;
}

/** Tests texts with one pattern. */
export interface PatternTest {
  /** Whether the pattern is valid. An invalid one matches nothing. */
  isValid(): boolean;
  matches(text: string): boolean;
}

/** Returns what compiles patterns. Throws while RE2 is not loaded. */
export type PatternSource = () => Patterns;
