import type { EnvironmentRef } from '../../base/common.types.js';
import type { StrategyInput } from './strategy.types.js';

type SwitchChange =
  | { readonly op: 'addStrategy'; readonly ref: EnvironmentRef; readonly input: StrategyInput }
  | { readonly op: 'enable' | 'disable'; readonly ref: EnvironmentRef };

/** Returns a gradual rollout, by default to everybody. */
export function rolloutTo(flag: string, rollout = '100'): StrategyInput {
  return { name: 'flexibleRollout', parameters: { rollout, stickiness: 'default', groupId: flag } };
}

/**
 * Returns the changes that switch a flag. A flag without strategies gets a rollout to everybody, because it could not be
 * on otherwise.
 */
export function switchChanges(
  ref: EnvironmentRef,
  { enabled, strategyCount }: { readonly enabled: boolean; readonly strategyCount: number },
): readonly SwitchChange[] {
  if (!enabled) return [{ op: 'disable', ref }];
  const enable = { op: 'enable', ref } as const;
  return strategyCount > 0 ? [enable] : [{ op: 'addStrategy', ref, input: rolloutTo(ref.flag) }, enable];
}
