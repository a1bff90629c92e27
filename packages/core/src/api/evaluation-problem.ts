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
