import type { Constraint, ConstraintOperator, Parameters } from '../flags/strategy.types.js';
import type { Override, Payload } from '../flags/variant.types.js';

/**
 * What a flag is in one environment, as evaluation reads it. Snapshots keep the definitions they are given: do not change
 * one afterwards, give {@link Snapshot.with} a new one.
 */
export interface FlagDefinition {
  readonly name: string;
  readonly project?: string;
  readonly type?: string;
  /** In the environment of the snapshot. */
  readonly enabled: boolean;
  /** The first that holds switches the flag on; an enabled flag without any is on. */
  readonly strategies: readonly StrategyDefinition[];
  readonly variants?: readonly VariantDefinition[] | null;
  /** All must hold. */
  readonly dependencies?: readonly DependencyDefinition[] | null;
  /** Whether evaluations are told to `onImpression`. */
  readonly impressionData?: boolean;
}

export interface StrategyDefinition {
  /** Built in, or registered by the host; one that is neither never holds. */
  readonly name: string;
  readonly parameters?: Parameters | null;
  readonly constraints?: readonly ConstraintDefinition[] | null;
  /** Ids of segments; one that does not exist keeps the strategy from holding. */
  readonly segments?: readonly number[] | null;
  /** They replace the flag's variants where this strategy decides. */
  readonly variants?: readonly VariantDefinition[] | null;
  /** A disabled strategy never holds; a flag whose strategies are all disabled is off. */
  readonly disabled?: boolean;
}

/** Operators that evaluation knows. */
export type EvaluationOperator = ConstraintOperator;

export interface ConstraintDefinition extends Omit<Constraint, 'operator'> {
  /** An {@link EvaluationOperator}; a constraint with any other never holds, inverted or not. */
  readonly operator: string;
}

export interface VariantDefinition {
  readonly name: string;
  /** Its share of the sum of all weights; 0 is never drawn, but can be given by an override. */
  readonly weight: number;
  /** That of the first variant counts; `default` when absent. */
  readonly stickiness?: string;
  readonly payload?: Payload | null;
  readonly overrides?: readonly Override[] | null;
}

/** What a flag wants of another one. A parent that is missing, or that has parents itself, keeps the flag off. */
export interface DependencyDefinition {
  readonly feature: string;
  /** `false` wants the parent off; on when absent. */
  readonly enabled?: boolean;
  /** Any of these must be the parent's variant, when there are some. */
  readonly variants?: readonly string[] | null;
}

/** Constraints under one id, shared by strategies; all must hold. */
export interface SegmentDefinition {
  readonly id: number;
  readonly constraints?: readonly ConstraintDefinition[] | null;
}
