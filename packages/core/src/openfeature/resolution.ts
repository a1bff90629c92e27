import { compareCodePoints } from '../collections.js';
import type { StrategyDefinition, VariantDefinition } from '../evaluation/definitions.types.js';
import type { EvaluatedVariant } from '../evaluation/evaluated.types.js';
import type {
  EnvironmentChoice,
  EnvironmentConfiguration,
  EvaluateAllOptions,
  EvaluationOperations,
  FlagConfiguration,
} from '../evaluation/evaluation.types.js';
import type { Payload } from '../flags/variant.types.js';
import { timeSlice } from '../time-slice.js';
import { type OpenFeatureContext, toEvaluationContext } from './values.js';

/**
 * Finds a flag in a configuration by binary search. Returns undefined for an unknown flag.
 *
 * @example
 * const isStale = findFlag(flags.configuration(), 'checkout')?.stale;
 */
export function findFlag({ flags }: EnvironmentConfiguration, name: string): FlagConfiguration | undefined {
  let from = 0;
  let to = flags.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const candidate = flags[middle];
    if (candidate === undefined) return undefined;
    const order = compareCodePoints(candidate.name, name);
    if (order === 0) return candidate;
    if (order < 0) from = middle + 1;
    else to = middle;
  }
  return undefined;
}

/**
 * Why a flag has its value, in OpenFeature's terms. Derived from the flag's configuration, without a second evaluation.
 *
 * - `DISABLED`: the flag is off in this environment.
 * - `DEFAULT`: the flag is enabled, but no strategy holds for the context, or a parent keeps the flag off.
 * - `STATIC`: the flag is on for every context.
 * - `SPLIT`: a share decides: a percentage of users, or one of several variants.
 * - `TARGETING_MATCH`: the context decides: constraints, segments, lists, or a parent.
 */
export type ResolutionReason = 'DISABLED' | 'DEFAULT' | 'STATIC' | 'SPLIT' | 'TARGETING_MATCH';

/**
 * Derives the reason of a result.
 *
 * @param variant the name of the returned variant, if one was requested and exists
 */
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
  // Any other stickiness is off for contexts without that field.
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

/** A flag's result in OpenFeature's terms, before conversion to a requested type. */
export interface FlagResolution {
  readonly flag: string;
  readonly enabled: boolean;
  readonly reason: ResolutionReason;
  /** Absent if the flag is off, has no variants, or no variant was requested. */
  readonly variant?: ResolvedVariant;
  readonly metadata: ResolutionMetadata;
}

export interface ResolvedVariant {
  readonly name: string;
  /** Convert it with {@link payloadValue}. */
  readonly payload?: Payload;
}

/** OpenFeature's flag metadata. `enabled` is whether the flag is on for the context, whatever the value is. */
export type ResolutionMetadata = Readonly<
  Record<'project' | 'type', string> & Record<'enabled' | 'stale' | 'impressionData', boolean>
>;

/** The context and environment of a resolution. Default: the instance's default environment. */
export interface ResolutionScope extends EnvironmentChoice {
  readonly context: OpenFeatureContext;
}

/**
 * Resolves whether a flag is on. Counts like `isEnabled`. Returns undefined for an unknown flag.
 *
 * @throws FlagsError `environment_not_found`
 * @example
 * const resolution = resolveSwitch(flags, 'checkout', { context: { targetingKey: '7' } });
 */
export function resolveSwitch(
  flags: EvaluationOperations,
  flag: string,
  { context, ...choice }: ResolutionScope,
): FlagResolution | undefined {
  const configuration = findFlag(flags.configuration(choice), flag);
  if (configuration === undefined) return undefined;
  return toResolution(configuration, flags.isEnabled(flag, toEvaluationContext(context), choice));
}

/**
 * Resolves a flag's variant. Counts like `getVariant`. Returns undefined for an unknown flag.
 *
 * @throws FlagsError `environment_not_found`
 * @example
 * const payload = resolveVariant(flags, 'checkout', { context: { targetingKey: '7' } })?.variant?.payload;
 */
export function resolveVariant(
  flags: EvaluationOperations,
  flag: string,
  { context, ...choice }: ResolutionScope,
): FlagResolution | undefined {
  const configuration = findFlag(flags.configuration(choice), flag);
  if (configuration === undefined) return undefined;
  const variant = flags.getVariant(flag, toEvaluationContext(context), choice);
  return toResolution(configuration, variant.feature_enabled, variant);
}

/**
 * Resolves all flags with their variants, in name order (code points). Counts nothing, like `evaluateAll`.
 *
 * @throws FlagsError `environment_not_found`
 * @example
 * const on = resolveAll(flags, { context: { targetingKey: '7' } }).filter(({ enabled }) => enabled);
 */
export function resolveAll(
  flags: EvaluationOperations,
  { context, ...choice }: ResolutionScope,
): readonly FlagResolution[] {
  const configuration = flags.configuration(choice);
  const answers = flags.forContext(toEvaluationContext(context), choice).evaluateAll();
  return answers.flatMap(({ name, enabled, variant }) => {
    const found = findFlag(configuration, name);
    return found ? [toResolution(found, enabled, variant)] : [];
  });
}

/**
 * Like {@link resolveAll}, in slices of some milliseconds. Use it in servers. All results come from one state.
 *
 * @throws FlagsError `environment_not_found`; `invalid_input` if evaluating these flags could take about a minute
 * @example
 * const resolutions = await resolveAllAsync(flags, { context: { targetingKey: '7' } });
 */
export async function resolveAllAsync(
  flags: EvaluationOperations,
  { context, ...choice }: ResolutionScope,
  options: EvaluateAllOptions = {},
): Promise<readonly FlagResolution[]> {
  await flags.loadConfiguration(choice);
  const configuration = flags.configuration(choice);
  const answers = await flags.forContext(toEvaluationContext(context), choice).evaluateAllAsync(options);
  const resolutions: FlagResolution[] = [];
  for (const { name, enabled, variant } of answers) {
    if (timeSlice.isOver()) await timeSlice.next(options.signal);
    const found = findFlag(configuration, name);
    if (found) resolutions.push(toResolution(found, enabled, variant));
  }
  return resolutions;
}

function toResolution(configuration: FlagConfiguration, enabled: boolean, answer?: EvaluatedVariant): FlagResolution {
  const { name: flag, project, type, stale, impressionData = false } = configuration;
  const variant = answer?.enabled ? answer : undefined;
  return {
    flag,
    enabled,
    reason: reasonFor(configuration, { enabled, variant: variant?.name }),
    ...(variant && { variant }),
    metadata: { project, type, enabled, stale, impressionData },
  };
}
