import type { ChangeContext, EnvironmentRef, StrategyRef } from '../base/common.types.js';
import type { Constraint, Payload, StrategyParameters } from '../evaluation/definitions.types.js';
import type { BuiltInName, BuiltInParameters } from '../evaluation/strategies.js';
import type { StrategyRollout } from './rollout.types.js';
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
  /** A custom strategy, in `strategies` of `createFlags` or `defineFlags`, or the name of a stored one. 1–100 characters. */
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
  /** Present while the percentage changes in steps. It is no input: inputs may have it, and nothing reads it there. */
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

export interface StrategyOperations<Own extends string = never> {
  /**
   * Adds a strategy to a flag in one environment, after those with the same `sortOrder`.
   *
   * Concurrent additions all succeed.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found`, `environment_not_found`,
   * `flag_archived`, `revision_mismatch`
   * @example
   * const { id } = await flags.addStrategy(
   *   { project: 'default', flag: 'checkout', environment: 'production' },
   *   { name: 'flexibleRollout', parameters: { rollout: 25, groupId: 'checkout', stickiness: 'default' } },
   * );
   */
  addStrategy(ref: EnvironmentRef, input: StrategyInput<Own>, context?: ChangeContext): Promise<Strategy>;

  /**
   * Replaces a strategy, except its id. Without a name, the strategy keeps its name. Absent parameters become `{}`,
   * absent constraints `[]`; other absent members are removed.
   *
   * @throws FlagsError as `addStrategy`, and `strategy_not_found`
   * @example
   * await flags.updateStrategy({ ...environment, strategy: id }, { name: 'default' });
   */
  updateStrategy(ref: StrategyRef, input: StrategyReplacement<Own>, context?: ChangeContext): Promise<Strategy>;

  /**
   * Removes a strategy. Removing the last strategy also disables the environment, because an enabled environment always
   * has a strategy.
   *
   * @throws FlagsError as `addStrategy`, and `strategy_not_found`, also if a concurrent call
   * removed the strategy first
   * @example
   * await flags.removeStrategy({ project: 'default', flag: 'checkout', environment: 'production', strategy: id });
   */
  removeStrategy(ref: StrategyRef, context?: ChangeContext): Promise<void>;

  /**
   * Gives strategies of one environment their `sortOrder`, in one change. Strategies that are not named keep theirs.
   *
   * @param order at most 100 strategies, each at most once
   * @returns all strategies of the environment in their new order
   * @throws FlagsError as `addStrategy`, and `strategy_not_found`
   * @example
   * await flags.orderStrategies(environment, [{ id: first, sortOrder: 0 }, { id: second, sortOrder: 1 }]);
   */
  orderStrategies(
    ref: EnvironmentRef,
    order: readonly StrategyPlace[],
    context?: ChangeContext,
  ): Promise<readonly Strategy[]>;

  /**
   * Enables a flag in one environment. Does nothing if it is enabled already.
   *
   * If the last strategy is removed concurrently, either this call fails, or the removal disables the environment
   * again.
   *
   * @throws FlagsError `environment_has_no_strategies`, `project_not_found`, `flag_not_found`, `environment_not_found`,
   * `flag_archived`, `revision_mismatch`
   * @example
   * await flags.enable({ project: 'default', flag: 'checkout', environment: 'production' });
   */
  enable(ref: EnvironmentRef, context?: ChangeContext): Promise<void>;

  /**
   * Disables a flag in one environment. Does nothing if it is disabled already.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `environment_not_found`, `flag_archived`,
   * `revision_mismatch`
   * @example
   * await flags.disable({ project: 'default', flag: 'checkout', environment: 'production' });
   */
  disable(ref: EnvironmentRef, context?: ChangeContext): Promise<void>;

  /**
   * Replaces a flag's whole configuration in one environment: its strategies, their order, and whether it is enabled.
   *
   * A strategy with the id of a current strategy of this environment replaces that one, and keeps its id. Other
   * strategies are new. Current strategies that the input does not name are removed. If `sortOrder` or the order of
   * addition contradicts the given order, all strategies get a new `sortOrder`. Records one event per fact, as the
   * single operations do.
   *
   * @throws FlagsError as `addStrategy`, and `environment_has_no_strategies`
   * @example
   * await flags.configureEnvironment(
   *   { project: 'default', flag: 'checkout', environment: 'production' },
   *   { enabled: true, strategies: [{ name: 'default' }] },
   * );
   */
  configureEnvironment(
    ref: EnvironmentRef,
    input: EnvironmentInput<Own>,
    context?: ChangeContext,
  ): Promise<FlagEnvironment>;
}

/** A strategy that uses a segment. */
export interface SegmentUse {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
  /** The strategy's id. */
  readonly strategy: string;
}
