import type { Constraint, Payload, StrategyParameters } from '../../evaluation/definitions.types.js';
import type { BuiltInName, BuiltInParameters } from '../../evaluation/strategies.js';
import type { StrategyRollout } from './strategy-rollout.types.js';
import type { WeightType } from './variant.types.js';

/** A variant of one strategy. It replaces the flag's variants if that strategy switches the flag on. */
export interface StrategyVariant {
  readonly name: string;
  readonly weightType: WeightType;
  /** 0–1000. */
  readonly weight: number;
  readonly stickiness: string;
  readonly payload?: Payload;
}

/** The members of a strategy beside its name and parameters. */
export interface StrategyMembers {
  /** Default: `[]`. */
  readonly constraints?: readonly Constraint[];
  readonly title?: string;
  readonly disabled?: boolean;
  /**
   * Strategies are shown and evaluated in ascending order. Default: 9999. Equal ones stay in the order of their
   * addition.
   */
  readonly sortOrder?: number;
  /** Ids of existing segments, each at most once. */
  readonly segments?: readonly number[];
  readonly variants?: readonly StrategyVariant[];
}

declare const stored: unique symbol;

/** The name of a stored strategy: any text, because other servers and earlier imports may know more strategies. */
export type StoredStrategyName = string & { readonly [stored]: true };

/** A built-in strategy, with its parameters. */
type BuiltInStrategyInput = {
  readonly [Name in BuiltInName]: StrategyMembers & {
    /** A built-in strategy. */
    readonly name: Name;
    /** Default: `{}`. For `flexibleRollout`, `rollout` is 0–100, as a number or a numeric string. */
    readonly parameters?: BuiltInParameters[Name] | null;
  };
}[BuiltInName];

/**
 * The content of a strategy, without its id. See {@link Strategy}.
 *
 * @typeParam Own the names of strategies that are not built in
 */
export type StrategyInput<Own extends string = never> = BuiltInStrategyInput | OwnStrategyInput<Own>;

/** A strategy that is not built in, or was read from the storage. */
export interface OwnStrategyInput<Own extends string = never> extends StrategyMembers {
  /** A custom strategy, in `strategies` of `openFlags` or `defineFlags`, or the name of a stored one. 1–100 characters. */
  readonly name: Own | StoredStrategyName;
  /** Default: `{}`. */
  readonly parameters?: StrategyParameters | null;
}

/** The replacement of a strategy. Without a name, the strategy keeps its name. */
export type StrategyReplacement<Own extends string = never> =
  | StrategyInput<Own>
  | (StrategyMembers & { readonly name?: undefined; readonly parameters?: StrategyParameters | null });

/** An activation strategy. Optional members are present only if the input had them. */
export interface Strategy extends StrategyMembers {
  /** A UUID. */
  readonly id: string;
  readonly name: StoredStrategyName;
  readonly parameters: StrategyParameters | null;
  readonly constraints: readonly Constraint[];
  /** Present while the percentage changes in steps. Inputs may have it, and it is ignored there. */
  readonly rollout?: StrategyRollout;
}

/** A flag's switch and strategies in one environment. */
export interface FlagEnvironment {
  readonly name: string;
  readonly enabled: boolean;
  readonly strategies: readonly Strategy[];
}

/** A flag's configuration in one environment: whole, with the strategies in the order of their evaluation. */
export interface EnvironmentInput<Own extends string = never> {
  /** Needs at least one strategy. */
  readonly enabled: boolean;
  readonly strategies: readonly ConfiguredStrategy<Own>[];
}

/** A strategy of a configuration. With the id of an existing strategy it replaces that one; otherwise it is new. */
export type ConfiguredStrategy<Own extends string = never> = StrategyInput<Own> & { readonly id?: string };

/** The order of a strategy in its environment. */
export interface StrategyPlace {
  readonly id: string;
  /** Strategies are shown and evaluated in ascending order. */
  readonly sortOrder: number;
}

/** A strategy that uses a segment. */
export interface SegmentUse {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
  /** The strategy's id. */
  readonly strategy: string;
}
