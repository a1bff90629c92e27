import type { ConstraintDefinition, DependencyDefinition, Payload, StrategyParameters } from './definitions.types.js';

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
  readonly flagEnabled: boolean;
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

/** The members of an {@link EvaluationContext}, except `environment`. */
export interface ContextMembers {
  readonly userId?: string | number | undefined;
  readonly sessionId?: string | number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly appName?: string | undefined;
  /** The time for `DATE_*` constraints. Default: the snapshot's `now`. */
  readonly currentTime?: Date | string | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * The `environment` of a context, which constraints compare. It does not choose the environment of the evaluation: the
 * options do. Therefore a context with `environment` must name another member, too, and options in the place of a context
 * are a type error.
 *
 * @typeParam Other the names of the other members
 */
export type ContextEnvironment<Other extends PropertyKey> =
  | { readonly environment?: undefined }
  | ({ readonly environment?: string | undefined } & { [Name in Other]: { readonly [_ in Name]: unknown } }[Other]);

/**
 * The user and circumstances that a flag is evaluated for. Constraints and stickiness name a member, or else an own
 * member of `properties`. Values are compared as text. Evaluation does not throw, whatever the context holds.
 *
 * @example
 * const context: EvaluationContext = { userId: '7', environment: 'staging', properties: { plan: 'pro' } };
 */
export type EvaluationContext = ContextMembers & ContextEnvironment<keyof ContextMembers>;

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
  isEnabled(parameters: StrategyParameters, context: EvaluationContext): boolean;
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
 * - `unknown_flag`: no live flag has the name that the application evaluates; it gets the fallback.
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
  | 'unknown_flag'
  | 'unknown_strategy'
  | 'unknown_operator'
  | 'unusable_operand'
  | 'strategy_failed'
  | 'evaluation_failed'
  | 'context_value_too_long'
  | 'too_costly'
  | 'impression_failed'
  | 'invalid_payload';

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

/** Whether a parent satisfies a flag's dependency. */
export interface DependencyExplanation {
  readonly dependency: DependencyDefinition;
  readonly holds: boolean;
}

/** Whether a strategy holds for a context, and why. */
export interface StrategyExplanation {
  readonly name: string;
  readonly holds: boolean;
  readonly disabled: boolean;
  /** Set if the strategy exceeds the weight limit and is not evaluated. See the problem `too_costly`. */
  readonly isTooCostly?: true;
  readonly constraints: readonly ConstraintExplanation[];
  readonly segments: readonly SegmentExplanation[];
  /** Whether the strategy's own test holds. Absent if it was not evaluated. */
  readonly test?: boolean;
  /** Present for strategies that hash. */
  readonly rollout?: RolloutExplanation;
}

/** Whether a segment holds for a context. */
export interface SegmentExplanation {
  readonly id: number;
  readonly found: boolean;
  readonly holds: boolean;
  readonly constraints: readonly ConstraintExplanation[];
}

/** Whether a constraint holds for a context. */
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

/** A part of a flag's audience: what one strategy admits. Everybody if it has a `rollout` of 100 and nothing else. */
export interface AudiencePart {
  /** The percentage, 0–100. */
  readonly rollout: number;
  /** The id of the segment that is the only condition. */
  readonly segment?: number;
  /** A list of `user`, `address` or `host` values. */
  readonly list?: { readonly noun: string; readonly count: number };
  /** The context field without which the flag is off, although the percentage is 100. */
  readonly field?: string;
  /** Other conditions: constraints, several segments, a custom strategy, or more than two strategies. */
  readonly targeted?: boolean;
}

/** A payload's value, or the reason that it is unusable. */
export type PayloadReading = { readonly value: unknown; readonly issue?: undefined } | { readonly issue: string };

/** Reads payloads of evaluated variants, and validates those of declared flags. */
export interface PayloadReader {
  /** Returns undefined for a variant without a payload, or without a declared one. */
  read(flag: string, variant: Pick<EvaluatedVariant, 'name' | 'payload'>): PayloadReading | undefined;
}
