import type { EnvironmentState, FlagState } from '../../src/features/flags/flag.js';
import { evolveFlag, type FlagEvent } from '../../src/features/flags/flag.kind.js';
import { toStrategy } from '../../src/features/flags/strategies.decide.js';
import type { Strategy } from '../../src/features/flags/strategy.types.js';

/** A flag with only a name, and the given changes. */
export function flagState(changes: Partial<FlagState> = {}): FlagState {
  return {
    name: 'checkout',
    project: 'shop',
    description: 'The new checkout',
    type: 'release',
    stale: false,
    impressionData: false,
    archived: false,
    createdAt: '2026-01-01T00:00:00.000Z',
    variants: [],
    dependencies: [],
    environments: [],
    labels: [],
    owner: null,
    ...changes,
  };
}

export function strategyState(id: string, changes: Partial<Strategy> = {}): Strategy {
  return { ...toStrategy(id, { name: 'default' }), ...changes };
}

/** An environment with strategies of these ids; off by default. */
export function environmentState(name: string, ids: readonly string[], changes: Partial<EnvironmentState> = {}) {
  return { name, enabled: false, strategies: ids.map((id) => strategyState(id)), ...changes };
}

/** Returns the flag after these events. */
export function after(flag: FlagState | undefined, events: readonly FlagEvent[]): FlagState | undefined {
  return events.reduce(evolveFlag, flag);
}
