import type { ChangeContext, EnvironmentRef, StrategyRef } from '../../base/common.types.js';
import { run } from '../../kernel/changes/run-operation.js';
import { FlagAdministration } from './flag-administration.js';
import { strategyOperations as operations } from './strategies.operations.js';
import type {
  EnvironmentInput,
  FlagEnvironment,
  Strategy,
  StrategyInput,
  StrategyPlace,
  StrategyReplacement,
} from './strategy.types.js';

/** The methods of `Flags` for the environments of a flag and their strategies. */
export abstract class StrategyAdministration<Own extends string = never> extends FlagAdministration {
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
  addStrategy(ref: EnvironmentRef, input: StrategyInput<Own>, context?: ChangeContext): Promise<Strategy> {
    return run(this, operations.addStrategy, { ref, input, context });
  }

  /**
   * Replaces a strategy, except its id. Without a name, the strategy keeps its name. Absent parameters become `{}`,
   * absent constraints `[]`; other absent members are removed.
   *
   * @throws FlagsError as `addStrategy`, and `strategy_not_found`
   * @example
   * await flags.updateStrategy({ ...environment, strategy: id }, { name: 'default' });
   */
  updateStrategy(ref: StrategyRef, input: StrategyReplacement<Own>, context?: ChangeContext): Promise<Strategy> {
    return run(this, operations.updateStrategy, { ref, input, context });
  }

  /**
   * Removes a strategy. Removing the last strategy also disables the environment, because an enabled environment always
   * has a strategy.
   *
   * @throws FlagsError as `addStrategy`, and `strategy_not_found`, also if a concurrent call
   * removed the strategy first
   * @example
   * await flags.removeStrategy({ project: 'default', flag: 'checkout', environment: 'production', strategy: id });
   */
  removeStrategy(ref: StrategyRef, context?: ChangeContext): Promise<void> {
    return run(this, operations.removeStrategy, { ref, context });
  }

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
  ): Promise<readonly Strategy[]> {
    return run(this, operations.orderStrategies, { ref, input: order, context });
  }

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
  enable(ref: EnvironmentRef, context?: ChangeContext): Promise<void> {
    return run(this, operations.enable, { ref, context });
  }

  /**
   * Disables a flag in one environment. Does nothing if it is disabled already.
   *
   * @throws FlagsError `project_not_found`, `flag_not_found`, `environment_not_found`, `flag_archived`,
   * `revision_mismatch`
   * @example
   * await flags.disable({ project: 'default', flag: 'checkout', environment: 'production' });
   */
  disable(ref: EnvironmentRef, context?: ChangeContext): Promise<void> {
    return run(this, operations.disable, { ref, context });
  }

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
  ): Promise<FlagEnvironment> {
    return run(this, operations.configureEnvironment, { ref, input, context });
  }
}
