import type { ConstraintDefinition, DependencyDefinition } from './definitions.types.js';
import type { EvaluatedVariant } from './evaluated.types.js';

/**
 * What decided.
 *
 * - `unknown_flag`, `broken_flag`: there is nothing to evaluate.
 * - `dependency`: a parent is not as the flag wants it.
 * - `disabled`: the flag is off in this environment.
 * - `no_strategies`: it is enabled and has no strategies, so it is on.
 * - `strategy`: the last one listed holds.
 * - `no_strategy_holds`: none of those listed does.
 * - `unreadable_context`: the context threw when it was read.
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

/** Why a flag comes to what it comes to: the decisions in the order in which they are made, up to the last needed. */
export interface FlagExplanation {
  readonly flag: string;
  readonly enabled: boolean;
  readonly reason: ExplanationReason;
  readonly variant: EvaluatedVariant;
  readonly dependencies: readonly DependencyExplanation[];
  readonly strategies: readonly StrategyExplanation[];
  /** How the variant was chosen; absent when the flag is off or there is none to choose from. */
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
  /** Present where evaluating it could take too long, so that it is not evaluated: see the problem `too_costly`. */
  readonly isTooCostly?: true;
  readonly constraints: readonly ConstraintExplanation[];
  readonly segments: readonly SegmentExplanation[];
  /** Whether its own test holds; absent where it was not asked. */
  readonly test?: boolean;
  /** For strategies that hash. */
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
  /** The field's text; absent when the context has none. `DATE_*` look at the time of the evaluation instead. */
  readonly value?: string;
  readonly holds: boolean;
}

/** How a rollout came out for a context. */
export interface RolloutExplanation {
  readonly holds: boolean;
  /** The text that was hashed is `groupId:id`. Absent where the id was missing. */
  readonly groupId: string;
  readonly id?: string;
  /** 1–100: the hash of the id, or drawn at random where there was none; absent where a missing id means off. */
  readonly bucket?: number;
  readonly random: boolean;
  /** Buckets up to this one are in, 0–100. */
  readonly rollout: number;
}

/** How a variant was chosen for a context. */
export interface VariantExplanation {
  readonly variant: EvaluatedVariant | undefined;
  readonly overridden: boolean;
  /** What follows is absent for an override. The text that was hashed is `groupId:id`. */
  readonly groupId?: string;
  readonly stickiness?: string;
  readonly id?: string;
  /** 1 up to the total weight: the hash of the id, or drawn at random where there was none. */
  readonly bucket?: number;
  readonly random?: boolean;
  readonly totalWeight?: number;
}
