import { assertEnvironment } from '../../base/assert-environment.js';
import type { ChangeContext, EnvironmentRef, StrategyRef } from '../../base/common.types.js';
import type { ErrorDetail } from '../../base/errors.js';
import { cloneJson } from '../../base/json.js';
import { assertText, invalidInput } from '../../base/validator.js';
import { run } from '../../kernel/changes/run-operation.js';
import type { Engine, PreparedChange } from '../../kernel/engine.js';
import { defineOperations, ENVIRONMENT, operation, STRATEGY, singleOperation } from '../../kernel/operation.js';
import type { Read } from '../../storage/document-reader.js';
import { editFlag, type FlagEdit, type FlagEngine } from './change-flag.js';
import { assertNoFaults, newPatterns, type PathOf } from './faults.js';
import { environmentOf, type FlagState, shownEnvironmentOf, withRollout } from './flag.js';
import { type FlagEvent, referredSegments } from './flag.kind.js';
import { FlagAdministration } from './flag.operations.js';
import { constraintsIn, findInvalidPatterns, segmentsWith } from './patterns.js';
import * as strategyRules from './strategies.decide.js';
import type {
  EnvironmentInput,
  FlagEnvironment,
  Strategy,
  StrategyInput,
  StrategyPlace,
  StrategyReplacement,
} from './strategy.types.js';

function addStrategy(engine: Engine, ref: EnvironmentRef, input: StrategyInput<string>): PreparedChange<Strategy> {
  const strategy = cloneJson(strategyRules.toStrategy(engine.newId(), input));
  return changeEnvironment(engine, ref, {
    decide: (flag) => strategyRules.addStrategy(flag, ref.environment, strategy),
    result: ({ state }) => strategyRules.findStrategy(state, { ...ref, strategy: strategy.id }),
  });
}

function updateStrategy(
  engine: FlagEngine,
  ref: StrategyRef,
  input: StrategyReplacement<string>,
): PreparedChange<Strategy> {
  const { validate } = engine;
  const { name } = input;
  const replacement = cloneJson(strategyRules.toStrategy('', input));
  return changeEnvironment(engine, ref, {
    decide(flag) {
      const named = { ...replacement, name: name ?? strategyRules.findStrategy(flag, ref).name };
      // The rules for parameters depend on the name.
      if (name === undefined) validate.strategy({ name: named.name, parameters: named.parameters });
      return strategyRules.replaceStrategy(flag, ref, named);
    },
    result: ({ state }) =>
      withRollout(strategyRules.findStrategy(state, ref), environmentOf(state, ref.environment).rollouts),
  });
}

function orderStrategies(
  engine: Engine,
  ref: EnvironmentRef,
  input: readonly StrategyPlace[],
): PreparedChange<readonly Strategy[]> {
  const order = input.map(({ id, sortOrder }) => ({ id, sortOrder }));
  return changeEnvironment(engine, ref, {
    decide: (flag) => strategyRules.orderStrategies(flag, ref.environment, order),
    result: ({ state }) => shownEnvironmentOf(state, ref.environment).strategies,
  });
}

function removeStrategy(engine: Engine, ref: StrategyRef): PreparedChange<void> {
  return changeEnvironment(engine, ref, {
    decide: (flag) => strategyRules.removeStrategy(flag, ref),
    result: () => undefined,
  });
}

function enable(engine: Engine, ref: EnvironmentRef): PreparedChange<void> {
  return changeEnvironment(engine, ref, {
    decide: (flag) => strategyRules.enable(flag, ref.environment),
    result: () => undefined,
  });
}

function disable(engine: Engine, ref: EnvironmentRef): PreparedChange<void> {
  return changeEnvironment(engine, ref, {
    decide: (flag) => strategyRules.disable(flag, ref.environment),
    result: () => undefined,
  });
}

function configureEnvironment(
  engine: Engine,
  ref: EnvironmentRef,
  input: EnvironmentInput<string>,
): PreparedChange<FlagEnvironment> {
  const { enabled, strategies } = input;
  // Strategies with an unknown id get the new one, which every decision repeats.
  const configured = strategies.map(({ id, ...strategy }) => {
    return { id, strategy: cloneJson(strategyRules.toStrategy(engine.newId(), strategy)) };
  });
  const places = new Map<string, string>();
  return changeEnvironment(engine, ref, {
    decide(flag) {
      const target = strategyRules.matchStrategies(flag, ref.environment, configured);
      for (const [index, { id }] of target.entries()) places.set(id, `/strategies/${index}`);
      return strategyRules.configureEnvironment(flag, ref.environment, { enabled, strategies: target });
    },
    result: ({ state }) => shownEnvironmentOf(state, ref.environment),
    pathOf: ({ id }) => places.get(id) ?? '',
  });
}

interface EnvironmentChange<Result> extends Pick<FlagEdit<Result>, 'result' | 'pathOf'> {
  readonly decide: (flag: FlagState) => readonly FlagEvent[];
}

/** Prepares a change of a flag in one environment. Refuses an unknown environment. */
function changeEnvironment<Result>(
  engine: Engine,
  ref: EnvironmentRef | StrategyRef,
  { decide, ...change }: EnvironmentChange<Result>,
): PreparedChange<Result> {
  const { pathOf } = change;
  return editFlag(ref, {
    ...change,
    decide(flag) {
      assertEnvironment(engine, ref.environment);
      if ('strategy' in ref) assertText('strategy', ref.strategy);
      return decide(flag);
    },
    constraintsOf: (unit) => constraintsIn(segmentsWith(engine, unit)),
    async check({ before, after, events }, unit) {
      await assertSegmentsExist(unit.read, events, pathOf);
      // Last: compiling is what takes long.
      assertNoFaults(await findInvalidPatterns(newPatterns(before, after)), pathOf);
    },
  });
}

/** Whether the data of an event is a new strategy, or one that replaces another. */
function isOfStrategy(event: FlagEvent): event is Extract<FlagEvent, { type: 'strategy-added' | 'strategy-updated' }> {
  return event.type === 'strategy-added' || event.type === 'strategy-updated';
}

/**
 * Refuses missing segments of new and changed strategies. The commit checks that the found segments still exist.
 */
async function assertSegmentsExist(read: Read, events: readonly FlagEvent[], pathOf: PathOf = () => ''): Promise<void> {
  for (const event of events) {
    if (!isOfStrategy(event)) continue;
    const { data } = event;
    const segments = (data.segments ?? []).map((id, index) => ({ id, index }));
    const found = await Promise.all(segments.map(({ id }) => read(referredSegments, `${id}`)));
    const missing = segments.filter((_, index) => !found[index]);
    if (missing.length > 0) throw invalidInput(missing.map((one) => toIssue(one, pathOf(data))));
  }
}

function toIssue({ id, index }: { readonly id: number; readonly index: number }, path: string): ErrorDetail {
  return { message: `must be the id of a segment; there is no segment ${id}`, path: `${path}/segments/${index}` };
}

export const strategyOperations = defineOperations({
  addStrategy: operation({ ref: ENVIRONMENT, input: 'strategy', prepare: addStrategy }),
  updateStrategy: operation({ ref: STRATEGY, input: 'strategyReplacement', prepare: updateStrategy }),
  removeStrategy: operation({ ref: STRATEGY, prepare: removeStrategy }),
  orderStrategies: singleOperation({ ref: ENVIRONMENT, input: 'strategyOrder', prepare: orderStrategies }),
  enable: operation({ ref: ENVIRONMENT, prepare: enable }),
  disable: operation({ ref: ENVIRONMENT, prepare: disable }),
  configureEnvironment: operation({ ref: ENVIRONMENT, input: 'environment', prepare: configureEnvironment }),
});

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
    return run(this, strategyOperations.addStrategy, { ref, input, context });
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
    return run(this, strategyOperations.updateStrategy, { ref, input, context });
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
    return run(this, strategyOperations.removeStrategy, { ref, context });
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
    return run(this, strategyOperations.orderStrategies, { ref, input: order, context });
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
    return run(this, strategyOperations.enable, { ref, context });
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
    return run(this, strategyOperations.disable, { ref, context });
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
    return run(this, strategyOperations.configureEnvironment, { ref, input, context });
  }
}
