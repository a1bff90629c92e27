import type { Parameters } from '../flags/strategy.types.js';
import type { Payload } from '../flags/variant.types.js';

/**
 * The variant that a flag has for a context. Frozen, and the same object for every call that answers this variant; only a
 * fallback is copied anew.
 */
export interface EvaluatedVariant {
  /** `disabled` when there is none. */
  readonly name: string;
  readonly payload?: Payload;
  /** Whether there is a variant. */
  readonly enabled: boolean;
  /** Whether the flag is on. */
  readonly feature_enabled: boolean;
}

/** What a flag comes to for a context. */
export interface Evaluation {
  readonly enabled: boolean;
  readonly variant: EvaluatedVariant;
}

/** Told for every counted evaluation of a flag with `impressionData`. */
export interface Impression {
  readonly flag: string;
  readonly context: EvaluationContext;
  readonly enabled: boolean;
  /** Only of `getVariant`. */
  readonly variant?: EvaluatedVariant;
}

/** What a caller wants for a flag that does not exist. */
export interface FallbackVariant {
  readonly name: string;
  readonly enabled: boolean;
  readonly payload?: Payload;
}

/**
 * Whom and what a flag is evaluated for. Constraints and stickiness name its members, or else own members of
 * `properties`; a value counts as its string. Whatever it holds, evaluation does not throw.
 */
export interface EvaluationContext {
  readonly userId?: string | number | undefined;
  readonly sessionId?: string | number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly environment?: string | undefined;
  readonly appName?: string | undefined;
  /** What `DATE_*` compare; the snapshot's `now` when absent. */
  readonly currentTime?: Date | string | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * How ids and group ids become the bytes that are hashed; for ASCII it makes no difference.
 *
 * - `utf8`: as the SDKs of other languages do.
 * - `low-byte`: the low byte of each UTF-16 unit, as the Node SDK of Unleash does. For applications that move from it and
 *   want users with non-ASCII ids to keep what they have.
 */
export type TextEncoding = 'utf8' | 'low-byte';

/**
 * A strategy of the host's own. It takes the place of a built-in one of the same name. One that throws does not hold, and
 * is reported.
 *
 * @example
 * const weekend: CustomStrategy = {
 *   name: 'weekend',
 *   isEnabled: (parameters) => [0, 6].includes(new Date().getDay()) === (parameters.only !== false),
 * };
 */
export interface CustomStrategy {
  readonly name: string;
  /** Only `true` holds. Called for every evaluation that comes to it: it must be quick, and cannot wait. */
  isEnabled(parameters: Parameters, context: EvaluationContext): boolean;
}

/** What is wrong with a definition, or went wrong while one was evaluated. Evaluation goes on regardless. */
export interface EvaluationProblem {
  readonly code: EvaluationProblemCode;
  /** The flag concerned, if one is. */
  readonly flag?: string;
  /** The segment concerned, if one is. */
  readonly segment?: number;
  /** One sentence that names the thing and says what comes of it. */
  readonly message: string;
}

/**
 * - `broken_flag`: the definition cannot be read; the flag is off.
 * - `broken_segment`: the definition cannot be read; strategies with that segment do not hold.
 * - `missing_segment`: a strategy names a segment that does not exist; it does not hold.
 * - `unknown_strategy`: neither built in nor registered; it does not hold.
 * - `unknown_operator`: the constraint never holds, inverted or not.
 * - `unusable_operand`: the operand is no number, date, version or pattern; the constraint holds only inverted.
 * - `strategy_failed`: a strategy of the host threw; it does not hold.
 * - `evaluation_failed`: the context could not be read; the flag is off, or on without a variant.
 * - `context_value_too_long`: a context field has more than 4,096 characters; it counts as absent.
 * - `too_costly`: evaluating the strategies, segment or parents could take too long; what exceeds the limit does not hold.
 * - `impression_failed`: the host's `onImpression` threw.
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
  | 'impression_failed';
