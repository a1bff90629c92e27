import type { ContextualFlags, EvaluatedFlag } from './evaluation.types.js';

/** Registered, so that a router of one build of this package can serve flags of the other. */
export const EVALUATE_PACED = Symbol.for('@flags/evaluate-paced');

/** The result of `forContext`. Applications see the members of {@link ContextualFlags} only. */
export interface PinnedFlags extends ContextualFlags {
  [EVALUATE_PACED](options: PacedEvaluation): AsyncGenerator<readonly EvaluatedFlag[], void>;
}

/** Options of {@link evaluatePaced}. */
export interface PacedEvaluation {
  /** Evaluates only these flags, in this order. Default: all flags, in name order. */
  readonly names?: Iterable<string> | undefined;
  /** Whether the evaluations count like `getVariant`. Default: false. */
  readonly isCounted?: boolean;
  /** Ends the evaluation when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Like `evaluateAll`, in slices of some milliseconds: for servers that evaluate many flags for untrusted contexts. Yields
 * pages of results and keeps none of them. Do not change the context until the generator has ended.
 *
 * @throws the reason of the signal when it aborts
 */
export function evaluatePaced(
  flags: ContextualFlags,
  options: PacedEvaluation = {},
): AsyncGenerator<readonly EvaluatedFlag[], void> {
  return (flags as PinnedFlags)[EVALUATE_PACED](options);
}
