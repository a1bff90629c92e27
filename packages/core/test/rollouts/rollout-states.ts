import type { EnvironmentState, FlagState } from '../../src/features/flags/flag.js';
import type { Strategy } from '../../src/features/flags/strategy.types.js';
import type { StrategyRollout } from '../../src/features/flags/strategy-rollout.types.js';
import { environmentState, flagState, strategyState } from '../flags/flag-states.js';
import { DAY } from '../settable-clock.js';

export const SINCE = '2026-01-01T00:00:00.000Z';
export const DUE = new Date(Date.parse(SINCE) + DAY).toISOString();
export const LOCATION = { environment: 'production', strategy: 's-1' };

/** A rollout whose second step is due at `DUE`. */
export function rolloutState(changes: Partial<StrategyRollout> = {}): StrategyRollout {
  return {
    steps: [
      { percentage: 5, hold: DAY },
      { percentage: 100, hold: null },
    ],
    step: 0,
    since: SINCE,
    state: 'running',
    guarded: false,
    author: { name: 'Ada' },
    startedFrom: { value: '1' },
    failure: null,
    ...changes,
  };
}

/** The strategy `s-1`, on for five percent. */
export function gradual(changes: Partial<Omit<Strategy, 'name'>> & { readonly name?: string } = {}): Strategy {
  return strategyState('s-1', { name: 'flexibleRollout', parameters: { rollout: '5' }, ...changes } as never);
}

/** A flag that is on in production for that strategy alone, unless the changes say otherwise. */
export function rollingFlag(
  rollout: StrategyRollout | undefined,
  changes: Partial<EnvironmentState> = {},
  members: Partial<FlagState> = {},
): FlagState {
  const rollouts = rollout && { rollouts: { 's-1': rollout } };
  const environment = environmentState('production', [], { enabled: true, strategies: [gradual()], ...rollouts });
  return flagState({ environments: [{ ...environment, ...changes }], ...members });
}
