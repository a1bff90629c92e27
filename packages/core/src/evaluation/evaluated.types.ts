import type { Parameters } from '../flags/strategy.types.js';
import type { Payload } from '../flags/variant.types.js';

/**
 * A flag's variant for a context. Frozen; every call returns the same object for the same variant, except for
 * fallbacks.
 */
export interface EvaluatedVariant {
  /** `disabled` if the flag is off or has no variants. */
  readonly name: string;
  readonly payload?: Payload;
  /** Whether the flag has a variant for this context. */
  readonly enabled: boolean;
  /** Whether the flag is on. */
  readonly feature_enabled: boolean;
}

/** A flag's state and variant for one context. */
export interface Evaluation {
  readonly enabled: boolean;
  readonly variant: EvaluatedVariant;
}

/** One counted evaluation of a flag with `impressionData`. */
export interface Impression {
  readonly flag: string;
  readonly context: EvaluationContext;
  readonly enabled: boolean;
  /** Present for `getVariant` only. */
  readonly variant?: EvaluatedVariant;
}

/** The variant to return for an unknown flag. */
export interface FallbackVariant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: Payload;
}

/**
 * The user and circumstances that a flag is evaluated for. Constraints and stickiness name a member, or else an own
 * member of `properties`. Values are compared as text. Evaluation does not throw, whatever the context holds.
 */
export interface EvaluationContext {
  readonly userId?: string | number | undefined;
  readonly sessionId?: string | number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly environment?: string | undefined;
  readonly appName?: string | undefined;
  /** The time for `DATE_*` constraints. Default: the snapshot's `now`. */
  readonly currentTime?: Date | string | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * How ids and group ids are encoded before hashing. ASCII text gives the same hash in both.
 *
 * - `utf8`: like the Unleash SDKs of other languages.
 * - `low-byte`: the low byte of each UTF-16 unit, like the Unleash SDK for Node. Choose it when you migrate from that
 *   SDK and users with non-ASCII ids must keep their variants.
 */
export type TextEncoding = 'utf8' | 'low-byte';

/**
 * A strategy that the host implements. It replaces a built-in strategy of the same name. If it throws, it does not
 * hold, and the problem is reported.
 *
 * @example
 * const weekend: CustomStrategy = {
 *   name: 'weekend',
 *   isEnabled: (parameters) => [0, 6].includes(new Date().getDay()) === (parameters.only !== false),
 * };
 */
export interface CustomStrategy {
  readonly name: string;
  /**
   * Returns `true` if the strategy holds; any other value means false. Called synchronously during evaluation, so it
   * must be fast.
   */
  isEnabled(parameters: Parameters, context: EvaluationContext): boolean;
}

/** A problem with a definition or an evaluation. Evaluation continues. */
export interface EvaluationProblem {
  readonly code: EvaluationProblemCode;
  /** The affected flag, if any. */
  readonly flag?: string;
  /** The affected segment, if any. */
  readonly segment?: number;
  /** One sentence that names the cause and its effect. */
  readonly message: string;
}

/**
 * - `broken_flag`: the definition cannot be read; the flag is off.
 * - `broken_segment`: the definition cannot be read; strategies with that segment do not hold.
 * - `missing_segment`: a strategy names a segment that does not exist; the strategy does not hold.
 * - `unknown_strategy`: the strategy is neither built in nor registered; it does not hold.
 * - `unknown_operator`: the constraint never holds, inverted or not.
 * - `unusable_operand`: the operand is not a valid number, date, version or pattern; the constraint holds only if
 *   inverted.
 * - `strategy_failed`: a custom strategy threw; it does not hold.
 * - `evaluation_failed`: the context could not be read; the flag is off, or on without a variant.
 * - `context_value_too_long`: a context value exceeds 4,096 characters, and counts as absent, or 500 characters, and
 *   matches no regular expression.
 * - `too_costly`: strategies, a segment or parents could take too long to evaluate; whatever exceeds the limit does not
 *   hold.
 * - `impression_failed`: the host's `onImpression` threw.
 * - `invalid_payload`: a payload cannot be read, or does not fit the declared one; `getPayload` returns the fallback.
 */
export type EvaluationProblemCode =
  | 'broken_flag'
  | 'broken_segment'
  | 'missing_segment'
  | 'unknown_strategy'
  | 'unknown_operator'
  | 'unusable_operand'
  | 'strategy_failed'
  | 'evaluation_failed'
  | 'context_value_too_long'
  | 'too_costly'
  | 'impression_failed'
  | 'invalid_payload';
