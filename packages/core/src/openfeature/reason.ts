import { isSameJson } from '../base/json.js';
import type { StrategyDefinition, VariantDefinition } from '../evaluation/definitions.types.js';
import type { EvaluatedVariant, FlagConfiguration } from '../evaluation/evaluation.types.js';
import { percentageParameter } from '../evaluation/strategies.js';
import { admitsEverybody } from '../words/audience.js';

/**
 * The reason of a flag's value, in the terms of OpenFeature and OFREP. Derived from the flag's configuration, without
 * a second evaluation.
 *
 * - `DISABLED`: the flag is off in this environment.
 * - `STATIC`: every context gets this answer, variant included. Providers may cache it until a flag changes.
 * - `SPLIT`: a percentage of users, or one of several variants.
 * - `TARGETING_MATCH`: the context decides, by constraints, segments, lists, overrides or a parent.
 * - `UNKNOWN`: the flag is on in this environment, but nothing matches the context.
 */
export type ResolutionReason = 'DISABLED' | 'STATIC' | 'SPLIT' | 'TARGETING_MATCH' | 'UNKNOWN';

/** Derives the reason of a flag that is off for a context. `SPLIT`: the context is not in the share of a strategy. */
export function reasonForOff({ enabled, strategies, dependencies }: FlagConfiguration): ResolutionReason {
  if (!enabled) return 'DISABLED';
  const isShared = !dependencies?.length && strategies.some((strategy) => !strategy.disabled && isShare(strategy));
  return isShared ? 'SPLIT' : 'UNKNOWN';
}

/**
 * Derives the reason of a flag that is on for a context.
 *
 * @param answer the variant that the context got; undefined if only the switch was requested
 */
export function reasonFor(
  flag: FlagConfiguration,
  answer?: Pick<EvaluatedVariant, 'name' | 'enabled'>,
): ResolutionReason {
  if (!flag.enabled) return 'DISABLED';
  const strategies = flag.strategies.filter(({ disabled }) => !disabled);
  if (isSameForAll(flag, strategies, answer !== undefined)) return 'STATIC';
  if (answer?.enabled && isOneOfSeveral(answer.name, flag)) return 'SPLIT';
  const isShared = !flag.dependencies?.length && strategies.length > 0 && strategies.every(isShare);
  return isShared && !hasOverrides(flag.variants ?? []) ? 'SPLIT' : 'TARGETING_MATCH';
}

/** Whether every context gets the same answer from these strategies. */
function isSameForAll(
  flag: FlagConfiguration,
  strategies: readonly StrategyDefinition[],
  withVariant: boolean,
): boolean {
  if (flag.dependencies?.length) return false;
  // All strategies are disabled: the flag is off for every context.
  if (strategies.length === 0 && flag.strategies.length > 0) return true;
  const last = strategies.findIndex(admitsEverybody);
  if (last === -1 && strategies.length > 0) return false;
  if (!withVariant) return true;
  const deciding = strategies.slice(0, last + 1);
  const lists = deciding.length === 0 ? [variantsFor(flag)] : deciding.map((strategy) => variantsFor(flag, strategy));
  const [first = [], ...others] = lists;
  return isSingle(first) && others.every((list) => isSingle(list) && isSameJson(chosen(list), chosen(first)));
}

/** Returns the variants that a context chooses from. A strategy's variants come before the flag's. */
function variantsFor({ variants }: FlagConfiguration, strategy?: StrategyDefinition): readonly VariantDefinition[] {
  return [strategy?.variants ?? [], variants ?? []].find((list) => list.some(hasWeight)) ?? [];
}

/** Whether a list has one variant to choose, or none. */
function isSingle(variants: readonly VariantDefinition[]): boolean {
  return variants.filter(hasWeight).length <= 1 && !hasOverrides(variants);
}

function chosen(variants: readonly VariantDefinition[]): unknown {
  const variant = variants.find(hasWeight);
  return variant ? { name: variant.name, payload: variant.payload ?? null } : null;
}

function isOneOfSeveral(variant: string, { strategies, variants }: FlagConfiguration): boolean {
  const lists = [...strategies.map((strategy) => strategy.variants ?? []), variants ?? []];
  const choice = lists.find((list) => list.some(({ name }) => name === variant));
  return (choice?.filter(hasWeight).length ?? 0) > 1;
}

function hasWeight({ weight }: VariantDefinition): boolean {
  return weight > 0;
}

function hasOverrides(variants: readonly VariantDefinition[]): boolean {
  return variants.some(({ overrides }) => Boolean(overrides?.length));
}

function isShare(strategy: StrategyDefinition): boolean {
  return !isConditional(strategy) && percentageParameter(strategy.name) !== undefined;
}

function isConditional({ constraints, segments }: StrategyDefinition): boolean {
  return Boolean(constraints?.length) || Boolean(segments?.length);
}
