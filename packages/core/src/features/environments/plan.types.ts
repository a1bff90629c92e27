import type { EvaluatedVariant, EvaluationContext, ExplanationReason } from '../../evaluation/evaluation.types.js';
import type { NeededApproval, PlannedDocument } from '../../kernel/changes/change-set.types.js';
import type { FlagEffect } from '../flags/effect.decide.js';

/** A change set that is planned and not applied. */
export interface ChangePlan {
  readonly documents: readonly PlannedDocument[];
  /** The differences that clients would see, in code-point order of environments, then of flags. */
  readonly effects: readonly FlagEffect[];
  /** The approval that the changes need; null if they need none. */
  readonly approval: NeededApproval | null;
}

/** The environment and the contexts of a preview. */
export interface PreviewQuery {
  readonly environment: string;
  /** At most 1000. */
  readonly contexts: readonly EvaluationContext[];
  /** Ends the preview when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The evaluations that a change set would change: one entry for every changed flag, and for the flags that depend on
 * it.
 */
export interface ChangePreview {
  readonly flags: readonly FlagPreview[];
}

/** One flag's evaluations before and after a change set. */
export interface FlagPreview {
  readonly project: string;
  readonly flag: string;
  /** `enabled` counts the contexts for which the flag is on. */
  readonly before: { readonly enabled: number };
  readonly after: { readonly enabled: number };
  /** In the order of the query's contexts. */
  readonly contexts: readonly ContextPreview[];
}

/** One context's evaluation before and after a change set. */
export interface ContextPreview {
  readonly before: PreviewedEvaluation;
  readonly after: PreviewedEvaluation;
  /** One for each hashing strategy of the planned flag, whether the evaluation reaches the strategy or not. */
  readonly buckets: readonly PreviewBucket[];
}

/** A flag's state and variant for one context of a preview. */
export interface PreviewedEvaluation {
  readonly enabled: boolean;
  readonly variant: EvaluatedVariant;
  readonly reason: ExplanationReason;
}

/** The bucket of a context in a hashing strategy. */
export interface PreviewBucket {
  /** The strategy's id. */
  readonly strategy: string;
  /** 1–100; null if the context lacks the id that the strategy hashes. */
  readonly bucket: number | null;
  /** The percentage, 0–100. Buckets up to this number are in the rollout. */
  readonly rollout: number;
}
