import type { EvaluatedVariant } from '../api/evaluated.js';
import type { EnvironmentChoice, EvaluationOperations, FlagConfiguration } from '../api/evaluation.js';
import type { Payload } from '../api/variants.js';
import { timeSlice } from '../time-slice.js';
import { type OpenFeatureContext, toEvaluationContext } from './context.js';
import { findFlag } from './find-flag.js';
import { type ResolutionReason, reasonFor } from './reason.js';

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
