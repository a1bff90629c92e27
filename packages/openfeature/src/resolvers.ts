import type { Flags } from '@flags/core';
import {
  type PayloadReading,
  payloadReaderOf,
  type ResolvedVariant,
  resolveSwitch,
} from '@flags/core/integration/openfeature';
import { type FlagResolution, resolveVariant } from '@flags/core/integration/shared';
import {
  ErrorCode,
  type EvaluationContext,
  type JsonValue,
  type Provider,
  type ResolutionDetails,
} from '@openfeature/server-sdk';

type Resolvers = Pick<
  Provider,
  'resolveBooleanEvaluation' | 'resolveStringEvaluation' | 'resolveNumberEvaluation' | 'resolveObjectEvaluation'
>;

interface ResolverOptions {
  readonly environment: string;
  /** Whether the metadata has the targeting key. */
  readonly contextId: boolean;
}

/** The resolvers of a provider, for one environment. */
export function createResolvers(flags: Flags, { environment, contextId }: ResolverOptions): Resolvers {
  const payloads = payloadReaderOf(flags);

  function resolvePayload<T>(request: Omit<PayloadRequest<T>, 'read'>, context: EvaluationContext) {
    const read = (variant: ResolvedVariant) => payloads.read(request.flag, variant);
    const details = payloadDetails({ ...request, read }, resolveVariant(flags, request.flag, { context, environment }));
    return contextId ? withContextId(details, context) : details;
  }

  return {
    async resolveBooleanEvaluation(flag, defaultValue, context) {
      const details = switchDetails({ flag, defaultValue }, resolveSwitch(flags, flag, { context, environment }));
      return contextId ? withContextId(details, context) : details;
    },

    async resolveStringEvaluation(flag, defaultValue, context) {
      return resolvePayload({ flag, defaultValue, type: 'string' }, context);
    },

    async resolveNumberEvaluation(flag, defaultValue, context) {
      return resolvePayload({ flag, defaultValue, type: 'number' }, context);
    },

    async resolveObjectEvaluation<T extends JsonValue>(flag: string, defaultValue: T, context: EvaluationContext) {
      return resolvePayload<T>({ flag, defaultValue, type: 'object' }, context);
    },
  };
}

/** Also for unknown flags, so that their events say for whom they were evaluated. */
function withContextId<T>(details: ResolutionDetails<T>, { targetingKey }: EvaluationContext): ResolutionDetails<T> {
  if (!targetingKey) return details;
  return { ...details, flagMetadata: { ...details.flagMetadata, contextId: targetingKey } };
}

/** A flag, and the default value of the caller. */
interface EvaluationRequest<T> {
  readonly flag: string;
  readonly defaultValue: T;
}

interface PayloadRequest<T> extends EvaluationRequest<T> {
  /** The `typeof` of `T`. */
  readonly type: 'string' | 'number' | 'object';
  /** Reads the payload of a variant, and compares it with the schema of the flags. */
  readonly read: (variant: ResolvedVariant) => PayloadReading | undefined;
}

/** Details of a boolean evaluation: whether the flag is on. */
function switchDetails(
  request: EvaluationRequest<boolean>,
  resolution: FlagResolution | undefined,
): ResolutionDetails<boolean> {
  if (resolution === undefined) return unknownFlag(request);
  const { enabled, metadata } = resolution;
  return { value: enabled, reason: reasonOf(resolution), flagMetadata: metadata };
}

/** Details of another evaluation: the value of the variant's payload. */
function payloadDetails<T>(request: PayloadRequest<T>, resolution: FlagResolution | undefined): ResolutionDetails<T> {
  if (resolution === undefined) return unknownFlag(request);
  const { enabled, reason, variant, metadata } = resolution;
  const known = { flagMetadata: metadata, ...(variant && { variant: variant.name }) };
  if (variant?.payload === undefined) {
    return { ...known, value: request.defaultValue, reason: enabled ? 'DEFAULT' : reasonOf(resolution) };
  }
  const reading = request.read(variant);
  if (reading === undefined) return { ...known, value: request.defaultValue, reason: 'DEFAULT' };
  if (reading.issue !== undefined) return { ...known, ...failure(request, ErrorCode.PARSE_ERROR, reading.issue) };
  const { value } = reading;
  if (typeof value !== request.type) {
    const message = `The payload of variant ${variant.name} of flag ${request.flag} is of type ${typeof value}, not ${request.type}.`;
    return { ...known, ...failure(request, ErrorCode.TYPE_MISMATCH, message) };
  }
  return { ...known, value: value as T, reason };
}

/** OpenFeature calls the reason `DEFAULT` if the flag is enabled, and no strategy matches the context. */
function reasonOf({ enabled, reason }: FlagResolution): string {
  return enabled || reason === 'DISABLED' ? reason : 'DEFAULT';
}

function unknownFlag<T>(request: EvaluationRequest<T>): ResolutionDetails<T> {
  return failure(request, ErrorCode.FLAG_NOT_FOUND, `There is no flag ${request.flag}.`);
}

function failure<T>(
  { defaultValue }: EvaluationRequest<T>,
  errorCode: ErrorCode,
  errorMessage: string,
): ResolutionDetails<T> {
  return { value: defaultValue, reason: 'ERROR', errorCode, errorMessage };
}
