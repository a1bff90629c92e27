import { always } from '../context.js';
import { applicationHostname, remoteAddressStrategy, userWithId } from './lists.js';
import {
  flexibleRollout,
  gradualRolloutRandom,
  gradualRolloutSessionId,
  gradualRolloutUserId,
} from './percentage-rollouts.js';
import type { StrategyTestFactory } from './strategy-test.js';

export const BUILT_IN_STRATEGIES: ReadonlyMap<string, StrategyTestFactory> = new Map<string, StrategyTestFactory>([
  ['default', () => ({ holds: always })],
  ['flexibleRollout', flexibleRollout],
  ['userWithId', userWithId],
  ['gradualRolloutUserId', gradualRolloutUserId],
  ['gradualRolloutSessionId', gradualRolloutSessionId],
  ['gradualRolloutRandom', gradualRolloutRandom],
  ['remoteAddress', remoteAddressStrategy],
  ['applicationHostname', applicationHostname],
]);
