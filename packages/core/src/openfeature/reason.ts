import type { StrategyDefinition, VariantDefinition } from '../api/definitions.js';
import type { FlagConfiguration } from '../api/evaluation.js';

/**
 * How an answer came about, in the words of OpenFeature, as far as the flag's configuration tells without evaluating once
 * more.
 *
 * - `DISABLED`: the flag is off in this environment.
 * - `DEFAULT`: it is enabled, and nobody it is for was asked about: no strategy holds, or a parent is not as wanted.
 * - `STATIC`: it is on for everybody.
 * - `SPLIT`: a share decides: a percentage of users, or one of several variants.
 * - `TARGETING_MATCH`: who was asked about decides: constraints, segments, lists, a parent.
 */
export type ResolutionReason = 'DISABLED' | 'DEFAULT' | 'STATIC' | 'SPLIT' | 'TARGETING_MATCH';

/** @param variant the name of the variant that was given, if one was asked for and there is one */
export function reasonFor(
  flag: FlagConfiguration,
  { enabled, variant }: { readonly enabled: boolean; readonly variant?: string | undefined },
): ResolutionReason {
  if (!enabled) return flag.enabled ? 'DEFAULT' : 'DISABLED';
  if (variant !== undefined && isOneOfSeveral(variant, flag)) return 'SPLIT';
  if (flag.dependencies?.length) return 'TARGETING_MATCH';
  const strategies = flag.strategies.filter(({ disabled }) => !disabled);
  if (strategies.length === 0 || strategies.some(isForEverybody)) return 'STATIC';
  return strategies.every(isShare) ? 'SPLIT' : 'TARGETING_MATCH';
}

/** A strategy's variants come before the flag's. */
function isOneOfSeveral(variant: string, { strategies, variants }: FlagConfiguration): boolean {
  const lists = [...strategies.map((strategy) => strategy.variants ?? []), variants ?? []];
  const chosen = lists.find((list) => list.some(({ name }) => name === variant));
  return (chosen?.filter(hasWeight).length ?? 0) > 1;
}

function hasWeight({ weight }: VariantDefinition): boolean {
  return weight > 0;
}

function isForEverybody(strategy: StrategyDefinition): boolean {
  if (isConditional(strategy)) return false;
  const { rollout, stickiness = 'default' } = strategy.parameters ?? {};
  if (strategy.name === 'default') return true;
  // Any other stickiness is off for those who do not have that field.
  const isSticky = stickiness !== 'default' && stickiness !== 'random';
  return strategy.name === 'flexibleRollout' && Number(rollout) >= 100 && !isSticky;
}

function isShare(strategy: StrategyDefinition): boolean {
  return !isConditional(strategy) && SHARES.has(strategy.name);
}

const SHARES: ReadonlySet<string> = new Set([
  'flexibleRollout',
  'gradualRolloutUserId',
  'gradualRolloutSessionId',
  'gradualRolloutRandom',
]);

function isConditional({ constraints, segments }: StrategyDefinition): boolean {
  return Boolean(constraints?.length) || Boolean(segments?.length);
}
