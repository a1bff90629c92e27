import { deepFreeze } from '../validation/json.js';
import { LIMITS } from '../validation/limits.js';
import { type FlagState, ownershipOf } from './flag.js';
import type { EnvironmentOverview, FlagOverview } from './flag-search.types.js';
import type { Strategy } from './strategy.types.js';

/** A flag as lists across projects read it, from memory. Environments that were never configured are absent. */
export interface IndexedFlag extends Omit<FlagOverview, 'lastSeenAt'> {
  /** Whether the flag itself has variants, in all environments. */
  readonly hasVariants: boolean;
}

/** Creates the frozen index entry of a flag. */
export function toIndexedFlag(flag: FlagState, revision: number): IndexedFlag {
  const { name, project, description, type, stale, archived, createdAt, variants, environments } = flag;
  const hasVariants = variants.length > 0;
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
    hasVariants,
    environments: environments.map(({ name, enabled, strategies }) => ({
      name,
      enabled,
      strategyCount: strategies.length,
      rollout: strategies.reduce((most, strategy) => Math.max(most, rolloutOf(strategy)), 0),
      hasVariants: hasVariants || strategies.some((strategy) => (strategy.variants ?? []).length > 0),
    })),
  });
}

/** Returns the overview of an environment: disabled and without strategies if it was never configured. */
export function environmentOverviewOf({ environments, hasVariants }: IndexedFlag, name: string): EnvironmentOverview {
  const known = environments.find((environment) => environment.name === name);
  return known ?? { name, enabled: false, strategyCount: 0, rollout: 0, hasVariants };
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
