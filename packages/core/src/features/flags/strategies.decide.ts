import { FlagsError } from '../../base/errors.js';
import { isSameJson, pickPresent } from '../../base/json.js';
import { LIMITS } from '../../base/limits.js';
import { type Edit, editList } from '../../base/parts.js';
import { assertNotArchived, type EnvironmentState, environmentOf, type FlagState, sortStrategies } from './flag.js';
import type { FlagEvent } from './flag.kind.js';
import type {
  StoredStrategyName,
  Strategy,
  StrategyInput,
  StrategyMembers,
  StrategyPlace,
  StrategyReplacement,
} from './strategy.types.js';

/** Identifies a strategy within a flag. */
export interface StrategyLocation {
  readonly environment: string;
  readonly strategy: string;
}

type OptionalMember = Exclude<keyof StrategyMembers, 'constraints'>;
const OPTIONAL: Readonly<Record<OptionalMember, true>> = {
  title: true,
  disabled: true,
  sortOrder: true,
  segments: true,
  variants: true,
};
const OPTIONAL_MEMBERS = Object.keys(OPTIONAL) as readonly OptionalMember[];

/** Creates a strategy from its input, without unknown members and with defaults. The name is empty if there is none. */
export function toStrategy(id: string, input: StrategyReplacement<string>): Strategy {
  const { name = '', parameters = {}, constraints = [] } = input;
  return {
    id,
    // The schema has accepted the name of the input. A stored strategy may have any name.
    name: name as StoredStrategyName,
    constraints,
    parameters,
    ...pickPresent<StrategyMembers, OptionalMember>(input, OPTIONAL_MEMBERS),
  };
}

export function addStrategy(flag: FlagState, environment: string, strategy: Strategy): FlagEvent[] {
  assertNotArchived(flag);
  assertRoomForStrategy(flag, environment);
  return [{ type: 'strategy-added', environment, data: strategy, before: null }];
}

function assertRoomForStrategy(flag: FlagState, environment: string): void {
  const most = LIMITS.strategiesPerEnvironment;
  if (environmentOf(flag, environment).strategies.length < most) return;
  const message = `The flag ${flag.name} has ${most} strategies in ${environment}, which is the maximum; remove one first.`;
  throw new FlagsError('invalid_input', message);
}

/**
 * Replaces a strategy.
 *
 * @param input complete: members that it lacks are removed
 */
export function replaceStrategy(
  flag: FlagState,
  location: StrategyLocation,
  input: StrategyInput<string>,
): FlagEvent[] {
  assertNotArchived(flag);
  const before = findStrategy(flag, location);
  const data = toStrategy(before.id, input);
  if (isSameJson(data, before)) return [];
  return [{ type: 'strategy-updated', environment: location.environment, data, before }];
}

/** Gives strategies their `sortOrder`. The others keep theirs. */
export function orderStrategies(flag: FlagState, environment: string, order: readonly StrategyPlace[]): FlagEvent[] {
  assertNotArchived(flag);
  return order.flatMap(({ id, sortOrder }) => {
    const location = { environment, strategy: id };
    return replaceStrategy(flag, location, { ...findStrategy(flag, location), sortOrder });
  });
}

/** Removes a strategy. Removing the last one also disables the environment: enabled implies a strategy. */
export function removeStrategy(flag: FlagState, location: StrategyLocation): FlagEvent[] {
  assertNotArchived(flag);
  const { environment } = location;
  const before = findStrategy(flag, location);
  const { enabled, strategies } = environmentOf(flag, environment);
  const removed: FlagEvent = { type: 'strategy-removed', environment, data: null, before };
  if (!enabled || strategies.length > 1) return [removed];
  return [removed, { type: 'environment-disabled', environment, data: { enabled: false }, before: { enabled: true } }];
}

/** Finds the strategy in the given environment only. */
export function findStrategy(flag: FlagState, { environment, strategy }: StrategyLocation): Strategy {
  const found = environmentOf(flag, environment).strategies.find(({ id }) => id === strategy);
  if (found) return found;
  const message = `The flag ${flag.name} has no strategy ${strategy} in ${environment}; read the flag for its strategies.`;
  throw new FlagsError('strategy_not_found', message);
}

export function enable(flag: FlagState, environment: string): FlagEvent[] {
  assertNotArchived(flag);
  const { enabled, strategies } = environmentOf(flag, environment);
  if (enabled) return [];
  if (strategies.length === 0) throw withoutStrategies(flag, environment);
  return [{ type: 'environment-enabled', environment, data: { enabled: true }, before: { enabled: false } }];
}

function withoutStrategies(flag: FlagState, environment: string): FlagsError {
  const message = `Add a strategy to ${environment} before enabling ${flag.name} there.`;
  return new FlagsError('environment_has_no_strategies', message);
}

export function disable(flag: FlagState, environment: string): FlagEvent[] {
  assertNotArchived(flag);
  if (!environmentOf(flag, environment).enabled) return [];
  return [{ type: 'environment-disabled', environment, data: { enabled: false }, before: { enabled: true } }];
}

/** The whole configuration of an environment. */
export interface EnvironmentTarget {
  readonly enabled: boolean;
  /** In the order of evaluation. Each has the id of a current strategy, or a new one. */
  readonly strategies: readonly Strategy[];
}

interface ConfiguredStrategy {
  readonly id: string | undefined;
  /** The strategy with a new id. */
  readonly strategy: Strategy;
}

/** Gives each configured strategy the id of the current strategy that it names, if there is one. */
export function matchStrategies(
  flag: FlagState,
  environment: string,
  configured: readonly ConfiguredStrategy[],
): readonly Strategy[] {
  const { strategies } = environmentOf(flag, environment);
  return configured.map(({ id, strategy }) => {
    const current = strategies.find((one) => one.id === id);
    return current ? { ...strategy, id: current.id } : strategy;
  });
}

/** Replaces a flag's configuration in one environment. */
export function configureEnvironment(flag: FlagState, environment: string, target: EnvironmentTarget): FlagEvent[] {
  assertNotArchived(flag);
  const { enabled, strategies } = target;
  if (enabled && strategies.length === 0) throw withoutStrategies(flag, environment);
  const current = environmentOf(flag, environment);
  return replaceEnvironment(current, { ...current, enabled, strategies: inGivenOrder(current.strategies, strategies) });
}

/** Returns the events from one state of an environment to another. It has a strategy after every event that leaves it on. */
export function replaceEnvironment(current: EnvironmentState, target: EnvironmentState): FlagEvent[] {
  const { name: environment, enabled } = target;
  const before = { enabled: current.enabled };
  const edits = editList(current.strategies, target.strategies);
  return [
    ...(current.enabled && !enabled
      ? [{ type: 'environment-disabled' as const, environment, data: { enabled }, before }]
      : []),
    ...edits.map((edit) => toEvent(environment, edit)),
    ...(enabled && !current.enabled
      ? [{ type: 'environment-enabled' as const, environment, data: { enabled }, before }]
      : []),
  ];
}

function toEvent(environment: string, { before, after }: Edit<Strategy>): FlagEvent {
  if (!after) return { type: 'strategy-removed', environment, data: null, before };
  if (!before) return { type: 'strategy-added', environment, data: after, before: null };
  return { type: 'strategy-updated', environment, data: after, before };
}

/**
 * Returns the strategies as they are stored: kept ones at their places, and new ones behind them. They get a `sortOrder`
 * if the order of evaluation would not be the given one.
 */
function inGivenOrder(current: readonly Strategy[], given: readonly Strategy[]): readonly Strategy[] {
  const byId = new Map(given.map((strategy) => [strategy.id, strategy]));
  const kept = current.flatMap(({ id }) => byId.get(id) ?? []);
  const stored = [...kept, ...given.filter((strategy) => !kept.includes(strategy))];
  const ordered = sortStrategies(stored);
  if (given.every((strategy, index) => strategy === ordered[index])) return stored;
  return stored.map((strategy) => ({ ...strategy, sortOrder: given.indexOf(strategy) }));
}
