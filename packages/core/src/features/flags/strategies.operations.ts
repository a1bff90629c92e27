import { assertEnvironment } from '../../base/assert-environment.js';
import type { EnvironmentRef, StrategyRef } from '../../base/common.types.js';
import type { ErrorDetail } from '../../base/errors.js';
import { cloneJson } from '../../base/json.js';
import { assertText, invalidInput } from '../../base/validator.js';
import type { Engine, PreparedChange } from '../../kernel/engine.js';
import { defineOperations, ENVIRONMENT, operation, STRATEGY, singleOperation } from '../../kernel/operation.js';
import type { Read } from '../../storage/documents.js';
import { editFlag, type FlagEdit, type FlagEngine } from './change-flag.js';
import { assertNoFaults, newPatterns, type PathOf } from './faults.js';
import { environmentOf, type FlagState, shownEnvironmentOf, withRollout } from './flag.js';
import { type FlagEvent, referredSegments } from './flag.kind.js';
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
