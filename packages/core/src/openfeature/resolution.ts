import { pause } from '../base/paced.js';
import type { FlagsSettings } from '../base/settings.types.js';
import type { Payload } from '../evaluation/definitions.types.js';
import { evaluatePaced, type PacedEvaluation } from '../evaluation/evaluate-paced.js';
import type {
  EnvironmentChoice,
  EnvironmentConfiguration,
  EvaluatedVariant,
  FlagConfiguration,
  FollowedEvaluation,
} from '../evaluation/evaluation.types.js';
import { findFlag } from './find.js';
import { type ResolutionReason, reasonFor, reasonForOff } from './reason.js';
import { type OpenFeatureContext, toEvaluationContext } from './values.js';
import { versionOf } from './version.js';

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
  /** Convert it with `payloadValue`. */
  readonly payload?: Payload;
}

/**
 * OpenFeature's flag metadata. OpenTelemetry's hooks read `flagSetId` and `version`.
 *
 * - `enabled`: the flag is on for the context, independent of the value.
 * - `flagSetId`: `PROJECT/ENVIRONMENT`.
 * - `version`: a hash of what decides the evaluation: the flag, its segments and its parents. The same on every node and
 *   follower that knows these.
 */
export type ResolutionMetadata = Readonly<
  Record<'project' | 'type' | 'flagSetId' | 'version', string> & Record<'enabled' | 'stale' | 'impressionData', boolean>
>;

/** The flags that are resolved. */
type ResolutionSource = Pick<FollowedEvaluation, 'configuration'> & {
  readonly settings: Pick<FlagsSettings, 'environment'>;
};

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
  flags: ResolutionSource & Pick<FollowedEvaluation, 'isEnabled'>,
  flag: string,
  { context, ...choice }: ResolutionScope,
): FlagResolution | undefined {
  const found = findIn(flags, flag, choice);
  if (found === undefined) return undefined;
  const enabled = flags.isEnabled(flag, toEvaluationContext(context), choice);
  return toResolution(found, {
    enabled,
    reason: enabled ? reasonFor(found.flag) : reasonForOff(found.flag),
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
  flags: ResolutionSource & Pick<FollowedEvaluation, 'getVariant'>,
  flag: string,
  { context, ...choice }: ResolutionScope,
): FlagResolution | undefined {
  const found = findIn(flags, flag, choice);
  if (found === undefined) return undefined;
  return toVariantResolution(found, flags.getVariant(flag, toEvaluationContext(context), choice));
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
  flags: ResolutionSource & Pick<FollowedEvaluation, 'forContext'>,
  { context, ...choice }: ResolutionScope,
): (options?: PacedEvaluation) => AsyncGenerator<readonly FlagResolution[], void> {
  const environment = environmentOf(flags, choice);
  const configuration = flags.configuration(choice);
  const pinned = flags.forContext(toEvaluationContext(context), choice);
  return async function* resolve(options = {}) {
    for await (const page of evaluatePaced(pinned, options)) {
      const resolutions: FlagResolution[] = [];
      for (const { name, variant } of page) {
        // The first resolution of a flag hashes it.
        await pause(options.signal);
        const flag = findFlag(configuration, name);
        if (flag) resolutions.push(toVariantResolution({ flag, configuration, environment }, variant));
      }
      yield resolutions;
    }
  };
}

/** A flag in the configuration of an environment. */
interface FoundFlag {
  readonly flag: FlagConfiguration;
  readonly configuration: EnvironmentConfiguration;
  readonly environment: string;
}

function findIn(source: ResolutionSource, name: string, choice: EnvironmentChoice): FoundFlag | undefined {
  const configuration = source.configuration(choice);
  const flag = findFlag(configuration, name);
  return flag && { flag, configuration, environment: environmentOf(source, choice) };
}

function environmentOf({ settings }: ResolutionSource, { environment = settings.environment }: EnvironmentChoice) {
  return environment;
}

function toVariantResolution(found: FoundFlag, answer: EvaluatedVariant): FlagResolution {
  const { flag } = found;
  const enabled = answer.flagEnabled;
  const reason = enabled ? reasonFor(flag, answer) : reasonForOff(flag);
  return {
    ...toResolution(found, { enabled, reason }),
    ...(answer.enabled && { variant: answer }),
    ...(!enabled && hasPayloads(flag) && { withholdsPayload: true }),
  };
}

function hasPayloads({ strategies, variants }: FlagConfiguration): boolean {
  return [variants, ...strategies.map((strategy) => strategy.variants)].some((list) =>
    list?.some(({ payload }) => payload !== undefined && payload !== null),
  );
}

function toResolution(
  { flag, configuration, environment }: FoundFlag,
  { enabled, reason }: Pick<FlagResolution, 'enabled' | 'reason'>,
): FlagResolution {
  const { name, project, type, stale, impressionData = false } = flag;
  const flagSetId = `${project}/${environment}`;
  const version = versionOf(flag, configuration);
  const metadata = { project, type, enabled, stale, impressionData, flagSetId, version };
  return { flag: name, enabled, reason, metadata };
}
