import { FlagsError } from '../../base/errors.js';
import { isSameJson } from '../../base/json.js';
import { toPointer } from '../../base/parts.js';
import { invalidInput } from '../../base/validator.js';
import { percentageParameter } from '../../evaluation/strategies.js';
import { describeConstraints } from './effect.decide.js';
import { assertNotArchived, environmentOf, type FlagState, rolloutOf, rolloutsIn } from './flag.js';
import type { FlagEvent } from './flag.kind.js';
import { findStrategy, type StrategyLocation } from './strategies.decide.js';
import type { Strategy } from './strategy.types.js';
import type { RolloutEndReason, RolloutStep, StartedFrom, StrategyRollout } from './strategy-rollout.types.js';

/** Identifies a step by its index and time, so that a decision has no effect after another process has taken a step. */
export type SeenStep = Pick<StrategyRollout, 'step' | 'since'>;

/** Starts a rollout with its first step. */
export function startRollout(
  flag: FlagState,
  location: StrategyLocation,
  { steps, guarded }: Pick<StrategyRollout, 'steps' | 'guarded'>,
  { author, at }: Pick<StrategyRollout, 'author'> & { readonly at: string },
): FlagEvent[] {
  assertNotArchived(flag);
  const strategy = findStrategy(flag, location);
  const parameter = percentageParameter(strategy.name);
  if (parameter === undefined) {
    const message = `must name a strategy with a percentage; ${strategy.name} has none`;
    throw invalidInput([{ message, path: '/ref/strategy' }]);
  }
  assertInUse(flag, strategy, location);
  const { environment } = location;
  if (rolloutOf(environmentOf(flag, environment), strategy.id)) {
    const message = `The strategy ${strategy.id} of ${flag.name} has a rollout already; stop it, or wait for its end.`;
    throw new FlagsError('rollout_exists', message);
  }
  const [first = { percentage: 0, hold: 0 }] = steps;
  const rollout: StrategyRollout = {
    steps,
    step: 0,
    since: at,
    state: stateIn(first),
    guarded,
    author,
    startedFrom: startedFromOf(strategy, parameter),
    failure: null,
  };
  const data = { strategy: strategy.id, rollout };
  return [
    { type: 'rollout-started', environment, data, before: null },
    ...updatedEvent(environment, strategy, withPercentage(strategy, first.percentage)),
  ];
}

/** Throws `environment_disabled` unless the strategy is in use: switching it on later would end the rollout. */
function assertInUse(flag: FlagState, strategy: Strategy, { environment }: StrategyLocation): void {
  if (environmentOf(flag, environment).enabled && !strategy.disabled) return;
  const why = strategy.disabled
    ? `The strategy is disabled in ${environment}`
    : `The flag ${flag.name} is off in ${environment}`;
  throw new FlagsError(
    'environment_disabled',
    `${why}; switch it on first, because switching it on later would end the rollout.`,
  );
}

/** @param failure the refusal of a step; null for a person */
export function pauseRollout(
  flag: FlagState,
  location: StrategyLocation,
  failure: StrategyRollout['failure'] = null,
): FlagEvent[] {
  const rollout = findRollout(flag, location);
  if (rollout.state === 'paused') return [];
  return [changedEvent('rollout-paused', location, rollout, { ...rollout, state: 'paused', failure })];
}

/** Pauses a rollout whose step was refused. Does nothing if the rollout has changed since. */
export function pauseAfterRefusal(
  flag: FlagState,
  location: StrategyLocation,
  { seen, failure }: { readonly seen: SeenStep; readonly failure: NonNullable<StrategyRollout['failure']> },
): FlagEvent[] {
  const rollout = rolloutAt(flag, location);
  return rollout?.state === 'running' && isAt(rollout, seen) ? pauseRollout(flag, location, failure) : [];
}

export function resumeRollout(flag: FlagState, location: StrategyLocation): FlagEvent[] {
  const rollout = findRollout(flag, location);
  const current = rollout.steps[rollout.step];
  if (rollout.state !== 'paused' || !current) return [];
  return [changedEvent('rollout-resumed', location, rollout, { ...rollout, state: stateIn(current), failure: null })];
}

/** Takes the next step by a person, which may be early. Does nothing if the step is reached already. */
export function advanceRollout(
  flag: FlagState,
  location: StrategyLocation,
  { step, at }: { readonly step: number | undefined; readonly at: string },
): FlagEvent[] {
  const rollout = findRollout(flag, location);
  const next = rollout.step + 1;
  const wanted = step ?? next;
  if (wanted <= rollout.step) return [];
  if (wanted !== next) {
    const message = `must be the next step, ${next}: a rollout takes one step at a time`;
    throw invalidInput([{ message, path: '/step' }]);
  }
  const isEarly = (nextAtOf(rollout) ?? 0) > Date.parse(at);
  return takeNext(flag, location, { rollout, at, isEarly });
}

/** Takes a step that is due. Does nothing if the rollout has changed since, is paused, or its hold is not over. */
export function takeDueStep(
  flag: FlagState,
  location: StrategyLocation,
  { seen, at }: { readonly seen: SeenStep; readonly at: string },
): FlagEvent[] {
  const rollout = rolloutAt(flag, location);
  if (rollout?.state !== 'running' || !isAt(rollout, seen)) return [];
  const nextAt = nextAtOf(rollout) ?? Number.POSITIVE_INFINITY;
  return nextAt <= Date.parse(at) ? takeNext(flag, location, { rollout, at, isEarly: false }) : [];
}

/** Takes the next step: the last one is followed by the end. A paused rollout stays paused. */
function takeNext(
  flag: FlagState,
  location: StrategyLocation,
  { rollout, at, isEarly }: { readonly rollout: StrategyRollout; readonly at: string; readonly isEarly: boolean },
): FlagEvent[] {
  const early = isEarly ? ({ early: true } as const) : {};
  const next = rollout.steps[rollout.step + 1];
  if (!next) return [endedEvent(location, rollout, { reason: 'done', ...early })];
  const { environment, strategy } = location;
  const state = rollout.state === 'paused' ? rollout.state : stateIn(next);
  const reached: StrategyRollout = {
    ...rollout,
    step: rollout.step + 1,
    since: at,
    state,
    failure: null,
  };
  const data = { strategy, rollout: reached, ...early };
  const current = findStrategy(flag, location);
  return [
    { type: 'rollout-stepped', environment, data, before: { strategy, rollout } },
    ...shrinking(updatedEvent(environment, current, withPercentage(current, next.percentage))),
  ];
}

/** Ends a rollout by a person. The percentage stays, or becomes that from before the start. */
export function stopRollout(flag: FlagState, location: StrategyLocation, rollback: boolean): FlagEvent[] {
  const rollout = findRollout(flag, location);
  if (rollback) return rollBack(flag, location, { rollout, reason: 'rolled-back' });
  return [endedEvent(location, rollout, { reason: 'stopped' })];
}

/**
 * Rolls back the rollout that a guard was asked about. Does nothing if it is paused, has ended, or was started again.
 */
export function rollBackByGuard(flag: FlagState, location: StrategyLocation, asked: StrategyRollout): FlagEvent[] {
  const rollout = rolloutAt(flag, location);
  if (!rollout || rollout.state === 'paused' || !isContinued(asked, rollout)) return [];
  return rollBack(flag, location, { rollout, reason: 'guard' });
}

function rollBack(
  flag: FlagState,
  location: StrategyLocation,
  { rollout, reason }: { readonly rollout: StrategyRollout; readonly reason: RolloutEndReason },
): FlagEvent[] {
  const { environment } = location;
  const strategy = findStrategy(flag, location);
  const parameters = parametersBefore(strategy, rollout.startedFrom);
  return [
    endedEvent(location, rollout, { reason }),
    ...shrinking(updatedEvent(environment, strategy, { ...strategy, parameters })),
  ];
}

/**
 * Puts the end of each rollout before the events that end it: those that change its strategy in anything but its
 * `sortOrder`, remove it, switch the flag off there, or archive, move or delete the flag.
 */
export function withEndedRollouts(flag: FlagState | undefined, events: readonly FlagEvent[]): readonly FlagEvent[] {
  if (!flag) return events;
  const ends = rolloutsIn(flag).flatMap(({ rollout, ...location }) =>
    isEndedBy(events, location, flag) ? [endedEvent(location, rollout, { reason: 'changed' })] : [],
  );
  return [...ends, ...events];
}

function isEndedBy(events: readonly FlagEvent[], location: StrategyLocation, flag: FlagState): boolean {
  let next: Strategy | null | undefined;
  for (const event of events) {
    if (event.type === 'flag-archived' || event.type === 'flag-moved' || event.type === 'flag-deleted') return true;
    if (!('environment' in event) || event.environment !== location.environment) continue;
    if (event.type === 'environment-disabled') return true;
    if (isOfRollout(event)) {
      // The change of the percentage belongs to this event of the rollout, so it does not end the rollout.
      if (event.data.strategy === location.strategy) return false;
    } else if (event.type === 'strategy-removed') {
      if (event.before.id === location.strategy) next = null;
    } else if (event.type === 'strategy-added' || event.type === 'strategy-updated') {
      if (event.data.id === location.strategy) next = event.data;
    }
  }
  return next === null || (next !== undefined && !isSameStrategy(next, findStrategy(flag, location)));
}

function isOfRollout(event: FlagEvent): event is Extract<FlagEvent, { readonly type: `rollout-${string}` }> {
  return event.type.startsWith('rollout-');
}

/** Whether two states of a strategy differ in nothing but the `sortOrder`. An absent member equals its default. */
function isSameStrategy(one: Strategy, other: Strategy): boolean {
  return isSameJson(toComparable(one), toComparable(other));
}

function toComparable({ name, parameters, constraints, title, disabled, segments, variants }: Strategy) {
  const members = {
    title: title ?? '',
    disabled: disabled ?? false,
    segments: segments ?? [],
    variants: variants ?? [],
  };
  return { name, parameters: parameters ?? {}, constraints: describeConstraints(constraints), ...members };
}

/** A rollout that a change set has started and that has not ended. */
export interface StartedRollout extends StrategyLocation {
  readonly hasStepped: boolean;
}

/** Returns the rollouts that a change set has started and that have not ended: the undo of the set ends them. */
export function startedRollouts(
  before: FlagState | undefined,
  after: FlagState | undefined,
  now: FlagState | undefined,
): readonly StartedRollout[] {
  if (!after || !now) return [];
  return rolloutsIn(after).flatMap(({ rollout: started, ...location }) => {
    const earlier = before && rolloutAt(before, location);
    const current = rolloutAt(now, location);
    if (earlier && isContinued(earlier, started)) return [];
    if (!current || !isContinued(started, current)) return [];
    return [{ ...location, hasStepped: current.step !== started.step }];
  });
}

/** Returns the place of a rollout, as a JSON Pointer into the flag. */
export function pointerTo({ environment, strategy }: StrategyLocation): string {
  return toPointer(['environments', environment, 'rollouts', strategy]);
}

/** Whether two states belong to the same rollout. */
function isContinued(one: StrategyRollout, later: StrategyRollout): boolean {
  const isSame = (member: 'steps' | 'guarded' | 'author' | 'startedFrom') => isSameJson(one[member], later[member]);
  if (!isSame('steps') || !isSame('guarded') || !isSame('author') || !isSame('startedFrom')) return false;
  return later.step > one.step || (later.step === one.step && later.since === one.since);
}

/** Returns when the hold is over, in milliseconds since 1970; undefined if it has no end. */
export function nextAtOf({
  steps,
  step,
  since,
}: Pick<StrategyRollout, 'steps' | 'step' | 'since'>): number | undefined {
  const hold = steps[step]?.hold ?? null;
  return hold === null ? undefined : Date.parse(since) + hold;
}

/** Returns the state of a rollout that is not paused. */
function stateIn({ hold }: RolloutStep): 'waiting' | 'running' {
  return hold === null ? 'waiting' : 'running';
}

function isAt(rollout: StrategyRollout, { step, since }: SeenStep): boolean {
  return rollout.step === step && rollout.since === since;
}

function rolloutAt(flag: FlagState, { environment, strategy }: StrategyLocation): StrategyRollout | undefined {
  return rolloutOf(environmentOf(flag, environment), strategy);
}

/** Throws `strategy_not_found`, `rollout_not_found`. */
function findRollout(flag: FlagState, location: StrategyLocation): StrategyRollout {
  const { id } = findStrategy(flag, location);
  const rollout = rolloutAt(flag, location);
  if (rollout) return rollout;
  const message = `The strategy ${id} of ${flag.name} has no rollout in ${location.environment}; list the rollouts, or start one.`;
  throw new FlagsError('rollout_not_found', message);
}

function changedEvent(
  type: 'rollout-paused' | 'rollout-resumed',
  { environment, strategy }: StrategyLocation,
  before: StrategyRollout,
  rollout: StrategyRollout,
): FlagEvent {
  return { type, environment, data: { strategy, rollout }, before: { strategy, rollout: before } };
}

function endedEvent(
  { environment, strategy }: StrategyLocation,
  rollout: StrategyRollout,
  end: { readonly reason: RolloutEndReason; readonly early?: true },
): FlagEvent {
  return {
    type: 'rollout-ended',
    environment,
    data: { strategy, rollout: null, ...end },
    before: { strategy, rollout },
  };
}

type StrategyUpdated = Extract<FlagEvent, { readonly type: 'strategy-updated' }>;

function updatedEvent(environment: string, before: Strategy, data: Strategy): readonly StrategyUpdated[] {
  return isSameJson(before, data) ? [] : [{ type: 'strategy-updated', environment, data, before }];
}

/**
 * Marks the changes of steps and rollbacks as shrinking, so that no size limit refuses them: they change a few bytes
 * only.
 */
function shrinking(events: readonly StrategyUpdated[]): readonly StrategyUpdated[] {
  return events.map((event) => ({ ...event, shrinks: true }));
}

/** Returns the strategy with another percentage, of the type that the parameter has. */
export function withPercentage(strategy: Strategy, percentage: number): Strategy {
  const parameter = percentageParameter(strategy.name);
  if (parameter === undefined) return strategy;
  const value = typeof parameterOf(strategy, parameter) === 'number' ? percentage : `${percentage}`;
  return { ...strategy, parameters: { ...strategy.parameters, [parameter]: value } };
}

/** Returns what {@link parametersBefore} writes back. */
function startedFromOf(strategy: Strategy, parameter: string): StartedFrom {
  if (strategy.parameters === null) return null;
  const value = parameterOf(strategy, parameter);
  return value === undefined ? {} : { value };
}

function parametersBefore(strategy: Strategy, startedFrom: StartedFrom): Strategy['parameters'] {
  const parameter = percentageParameter(strategy.name);
  if (startedFrom === null) return null;
  if (parameter === undefined) return strategy.parameters;
  const { [parameter]: _written, ...others } = strategy.parameters ?? {};
  return startedFrom.value === undefined ? others : { ...strategy.parameters, [parameter]: startedFrom.value };
}

function parameterOf({ parameters }: Pick<Strategy, 'parameters'>, parameter: string) {
  return parameters && Object.hasOwn(parameters, parameter) ? parameters[parameter] : undefined;
}

/**
 * Returns the strategy of a definition with the present percentage: an import does not change the percentage of a
 * rollout.
 */
export function keepPercentage(wanted: Strategy, current: Strategy): Strategy {
  const parameter = wanted.name === current.name ? percentageParameter(current.name) : undefined;
  if (parameter === undefined) return wanted;
  const value = parameterOf(current, parameter);
  return value === undefined ? wanted : { ...wanted, parameters: { ...wanted.parameters, [parameter]: value } };
}
