import { deepFreeze } from '../validation/json.js';
import { LIMITS } from '../validation/limits.js';
import { environmentOf, type FlagState, ownershipOf } from './flag.js';
import type { EnvironmentOverview, FlagOverview } from './flag-search.types.js';
import type { Strategy } from './strategy.types.js';

/** A flag as lists across projects read it, from memory. */
export type IndexedFlag = Omit<FlagOverview, 'lastSeenAt'>;

/** Creates the frozen index entry of a flag, with these environments in this order. */
export function toIndexedFlag(
  flag: FlagState,
  {
    revision,
    environments,
  }: { readonly revision: number; readonly environments: readonly { readonly name: string }[] },
): IndexedFlag {
  const { name, project, description, type, stale, archived, createdAt } = flag;
  return deepFreeze({
    name,
    project,
    description,
    type,
    stale,
    archived,
    ...ownershipOf(flag),
    revision,
    createdAt,
    environments: environments.map((environment) => toOverview(flag, environment.name)),
  });
}

function toOverview(flag: FlagState, environment: string): EnvironmentOverview {
  // Opening must not fail on a document that somebody else has written to the storage without its lists.
  const { variants = [] } = flag;
  const { name, enabled, strategies } = environmentOf(flag, environment);
  return {
    name,
    enabled,
    strategyCount: strategies.length,
    rollout: strategies.reduce((most, strategy) => Math.max(most, rolloutOf(strategy)), 0),
    hasVariants: variants.length > 0 || strategies.some(({ variants = [] }) => variants.length > 0),
  };
}

/** The parameter that holds the percentage, of the strategies that have one. */
const PERCENTAGES: ReadonlyMap<string, string> = new Map([
  ['flexibleRollout', 'rollout'],
  ['gradualRolloutRandom', 'percentage'],
  ['gradualRolloutSessionId', 'percentage'],
  ['gradualRolloutUserId', 'percentage'],
]);

/** Returns the percentage of users that a strategy admits. As in evaluation, an unreadable one admits nobody. */
function rolloutOf({ name, disabled, parameters }: Strategy): number {
  if (disabled) return 0;
  const parameter = PERCENTAGES.get(name);
  if (parameter === undefined) return 100;
  const percentage = toPercentage(parameters?.[parameter]);
  return percentage > 0 ? Math.min(Math.floor(percentage), 100) : 0;
}

function toPercentage(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.length <= LIMITS.operandText ? Number(value) : Number.NaN;
}
