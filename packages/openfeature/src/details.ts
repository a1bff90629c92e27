import type { FlagResolution, PayloadReading, ResolvedVariant } from '@flags/core/integration';
import { ErrorCode, type ResolutionDetails } from '@openfeature/server-sdk';

/** A flag, and the value that a caller gets without a flag or payload. */
export interface EvaluationRequest<T> {
  readonly flag: string;
  readonly defaultValue: T;
}

export interface PayloadRequest<T> extends EvaluationRequest<T> {
  /** The `typeof` of `T`. */
  readonly type: 'string' | 'number' | 'object';
  /** Reads the payload of a variant, and compares it with the schema of the flags. */
  readonly read: (variant: ResolvedVariant) => PayloadReading | undefined;
}

/** Details of a boolean evaluation: whether the flag is on. */
export function switchDetails(
  request: EvaluationRequest<boolean>,
  resolution: FlagResolution | undefined,
): ResolutionDetails<boolean> {
  if (resolution === undefined) return unknownFlag(request);
  const { enabled, reason, metadata } = resolution;
  return { value: enabled, reason, flagMetadata: metadata };
}

/** Details of another evaluation: the value of the variant's payload. */
export function payloadDetails<T>(
  request: PayloadRequest<T>,
  resolution: FlagResolution | undefined,
): ResolutionDetails<T> {
  if (resolution === undefined) return unknownFlag(request);
  const { enabled, reason, variant, metadata } = resolution;
  const known = { flagMetadata: metadata, ...(variant && { variant: variant.name }) };
  if (variant?.payload === undefined) {
    return { ...known, value: request.defaultValue, reason: enabled ? 'DEFAULT' : reason };
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
