import { compareCodePoints } from '../collections.js';
import type { StrategyDefinition, VariantDefinition } from '../evaluation/definitions.types.js';
import type { EvaluatedVariant } from '../evaluation/evaluated.types.js';
import type {
  EnvironmentChoice,
  EnvironmentConfiguration,
  EvaluationOperations,
  FlagConfiguration,
} from '../evaluation/evaluation.types.js';
import type { Payload } from '../flags/variant.types.js';
import { timeSlice } from '../time-slice.js';
import { type OpenFeatureContext, toEvaluationContext } from './values.js';

/**
 * The flag of this name in a configuration; undefined when there is none. By halves, since flags are in code-point order.
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

/** A flag's answer in the words of OpenFeature, before anybody has asked for a type. */
export interface FlagResolution {
  readonly flag: string;
  readonly enabled: boolean;
  readonly reason: ResolutionReason;
  /** Absent when the flag is off, has no variants, or was not asked for one. */
  readonly variant?: ResolvedVariant;
  readonly metadata: ResolutionMetadata;
}

export interface ResolvedVariant {
  readonly name: string;
  /** See {@link payloadValue}. */
  readonly payload?: Payload;
}

/** What OpenFeature calls flag metadata. `enabled`: whether the flag is on for the context, whatever the value is. */
export type ResolutionMetadata = Readonly<
  Record<'project' | 'type', string> & Record<'enabled' | 'stale' | 'impressionData', boolean>
>;

/** For whom, and where; in the default environment when none is named. */
export interface ResolutionScope extends EnvironmentChoice {
  readonly context: OpenFeatureContext;
}

/**
 * Whether a flag is on, counted as by `isEnabled`; undefined for a flag that does not exist.
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
 * The variant of a flag, counted as by `getVariant`; undefined for a flag that does not exist.
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
 * All flags with their variants, by name in code-point order; not counted, as by `evaluateAll`.
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
 * As {@link resolveAll}, from one state, in slices of some milliseconds: for servers.
 *
 * @throws FlagsError `environment_not_found`
 * @example
 * const resolutions = await resolveAllAsync(flags, { context: { targetingKey: '7' } });
 */
export async function resolveAllAsync(
  flags: EvaluationOperations,
  { context, ...choice }: ResolutionScope,
): Promise<readonly FlagResolution[]> {
  await flags.loadConfiguration(choice);
  const configuration = flags.configuration(choice);
  const answers = await flags.forContext(toEvaluationContext(context), choice).evaluateAllAsync();
  const resolutions: FlagResolution[] = [];
  for (const { name, enabled, variant } of answers) {
    if (timeSlice.isOver()) await timeSlice.next();
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
