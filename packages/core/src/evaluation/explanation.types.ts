import type { ConstraintDefinition, DependencyDefinition } from './definitions.types.js';
import type { EvaluatedVariant } from './evaluated.types.js';

/**
 * The decision that determined the result.
 *
 * - `unknown_flag`, `broken_flag`: there is no readable definition.
 * - `dependency`: a parent does not satisfy the flag's dependency.
 * - `disabled`: the flag is off in this environment.
 * - `no_strategies`: the flag is enabled and has no strategies, so it is on.
 * - `strategy`: the last listed strategy holds.
 * - `no_strategy_holds`: no listed strategy holds.
 * - `unreadable_context`: reading the context threw an error.
 */
export type ExplanationReason =
  | 'unknown_flag'
  | 'broken_flag'
  | 'dependency'
  | 'disabled'
  | 'no_strategies'
  | 'strategy'
  | 'no_strategy_holds'
  | 'unreadable_context';

/** Why a flag is on or off: all decisions in their order, up to the one that determined the result. */
export interface FlagExplanation {
  readonly flag: string;
  readonly enabled: boolean;
  readonly reason: ExplanationReason;
  readonly variant: EvaluatedVariant;
  readonly dependencies: readonly DependencyExplanation[];
  readonly strategies: readonly StrategyExplanation[];
  /** How the variant was selected. Absent if the flag is off or has no variants. */
  readonly variantChoice?: VariantExplanation;
}

export interface DependencyExplanation {
  readonly dependency: DependencyDefinition;
  readonly holds: boolean;
}

export interface StrategyExplanation {
  readonly name: string;
  readonly holds: boolean;
  readonly disabled: boolean;
  /** Set if the strategy exceeds the cost limit and is not evaluated. See the problem `too_costly`. */
  readonly isTooCostly?: true;
  readonly constraints: readonly ConstraintExplanation[];
  readonly segments: readonly SegmentExplanation[];
  /** Whether the strategy's own test holds. Absent if it was not evaluated. */
  readonly test?: boolean;
  /** Present for strategies that hash. */
  readonly rollout?: RolloutExplanation;
}

export interface SegmentExplanation {
  readonly id: number;
  readonly found: boolean;
  readonly holds: boolean;
  readonly constraints: readonly ConstraintExplanation[];
}

export interface ConstraintExplanation {
  readonly constraint: ConstraintDefinition;
  /**
   * The text of the context field; absent if the context has none. `DATE_*` constraints test the time of the evaluation
   * instead.
   */
  readonly value?: string;
  readonly holds: boolean;
}

/** The result of a rollout for a context. */
export interface RolloutExplanation {
  readonly holds: boolean;
  /** The hashed text is `groupId:id`. `id` is absent if the context has none. */
  readonly groupId: string;
  readonly id?: string;
  /** 1–100: from the hash of the id, or random if there is no id. Absent if a missing id means off. */
  readonly bucket?: number;
  readonly random: boolean;
  /** The percentage, 0–100. Buckets up to this number are in the rollout. */
  readonly rollout: number;
}

/** How a variant was selected for a context. */
export interface VariantExplanation {
  readonly variant: EvaluatedVariant | undefined;
  readonly overridden: boolean;
  /** Absent for an override, like all members below. The hashed text is `groupId:id`. */
  readonly groupId?: string;
  readonly stickiness?: string;
  readonly id?: string;
  /** 1 to the total weight: from the hash of the id, or random if there is no id. */
  readonly bucket?: number;
  readonly random?: boolean;
  readonly totalWeight?: number;
}
