import { compareCodePoints } from '../base/collections.js';
import type { Payload } from '../evaluation/definitions.types.js';
import { evaluatePaced, type PacedEvaluation } from '../evaluation/evaluate-paced.js';
import type {
  EnvironmentChoice,
  EnvironmentConfiguration,
  EvaluatedVariant,
  FlagConfiguration,
  FollowedEvaluation,
} from '../evaluation/evaluation.types.js';
import { type ResolutionReason, reasonFor, reasonForOff } from './reason.js';
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

/** A flag's result in OpenFeature's terms, before conversion to a requested type. */
export interface FlagResolution {
  readonly flag: string;
  readonly enabled: boolean;
  readonly reason: ResolutionReason;
  /** Absent if the flag is off, has no variants, or no variant was requested. */
  readonly variant?: ResolvedVariant;
  /** The flag is off, and its variants have payloads: callers that ask for a payload use their own default. */
  readonly withholdsPayload?: true;
  readonly metadata: ResolutionMetadata;
}

export interface ResolvedVariant {
  readonly name: string;
  /** Convert it with {@link payloadValue}. */
  readonly payload?: Payload;
}

/** OpenFeature's flag metadata. `enabled`: the flag is on for the context, independent of the value. */
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
  flags: Pick<FollowedEvaluation, 'configuration' | 'isEnabled'>,
  flag: string,
  { context, ...choice }: ResolutionScope,
): FlagResolution | undefined {
  const configuration = findFlag(flags.configuration(choice), flag);
  if (configuration === undefined) return undefined;
  const enabled = flags.isEnabled(flag, toEvaluationContext(context), choice);
  return toResolution(configuration, {
    enabled,
    reason: enabled ? reasonFor(configuration) : reasonForOff(configuration),
  });
}

/**
 * Resolves a flag's variant. Counts like `getVariant`. Returns undefined for an unknown flag.
 *
 * @throws FlagsError `environment_not_found`
 * @example
 * const payload = resolveVariant(flags, 'checkout', { context: { targetingKey: '7' } })?.variant?.payload;
 */
export function resolveVariant(
  flags: Pick<FollowedEvaluation, 'configuration' | 'getVariant'>,
  flag: string,
  { context, ...choice }: ResolutionScope,
): FlagResolution | undefined {
  const configuration = findFlag(flags.configuration(choice), flag);
  if (configuration === undefined) return undefined;
  return toVariantResolution(configuration, flags.getVariant(flag, toEvaluationContext(context), choice));
}

/**
 * Resolves flags with their variants, in name order (code points), in slices of some milliseconds. All results come from
 * the state at the time of the call. Each call of the returned function resolves the flags again, and yields them in
 * pages. They count like `getVariant` if the options say so.
 *
 * @throws FlagsError `environment_not_found`
 * @example
 * const resolve = createPacedResolution(flags, { context: { targetingKey: '7' } });
 * for await (const page of resolve({ isCounted: true })) resolutions.push(...page);
 */
export function createPacedResolution(
  flags: Pick<FollowedEvaluation, 'configuration' | 'forContext'>,
  { context, ...choice }: ResolutionScope,
): (options?: PacedEvaluation) => AsyncGenerator<readonly FlagResolution[], void> {
  const configuration = flags.configuration(choice);
  const pinned = flags.forContext(toEvaluationContext(context), choice);
  return async function* resolve(options = {}) {
    for await (const page of evaluatePaced(pinned, options)) {
      yield page.flatMap(({ name, variant }) => {
        const found = findFlag(configuration, name);
        return found ? [toVariantResolution(found, variant)] : [];
      });
    }
  };
}

function toVariantResolution(configuration: FlagConfiguration, answer: EvaluatedVariant): FlagResolution {
  const enabled = answer.flagEnabled;
  const reason = enabled ? reasonFor(configuration, answer) : reasonForOff(configuration);
  return {
    ...toResolution(configuration, { enabled, reason }),
    ...(answer.enabled && { variant: answer }),
    ...(!enabled && hasPayloads(configuration) && { withholdsPayload: true }),
  };
}

function hasPayloads({ strategies, variants }: FlagConfiguration): boolean {
  return [variants, ...strategies.map((strategy) => strategy.variants)].some((list) =>
    list?.some(({ payload }) => payload !== undefined && payload !== null),
  );
}

function toResolution(
  { name: flag, project, type, stale, impressionData = false }: FlagConfiguration,
  { enabled, reason }: Pick<FlagResolution, 'enabled' | 'reason'>,
): FlagResolution {
  return { flag, enabled, reason, metadata: { project, type, enabled, stale, impressionData } };
}
