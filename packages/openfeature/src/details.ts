import { type FlagResolution, payloadValue } from '@flags/core/integration';
import { ErrorCode, type ResolutionDetails } from '@openfeature/server-sdk';

/** What a caller asks for, and what it gets when there is nothing else. */
export interface Question<T> {
  readonly flag: string;
  readonly defaultValue: T;
}

export interface PayloadQuestion<T> extends Question<T> {
  /** Of `T`, as `typeof` tells it. */
  readonly type: 'string' | 'number' | 'object';
}

/** Whether the flag is on. */
export function switchDetails(
  question: Question<boolean>,
  resolution: FlagResolution | undefined,
): ResolutionDetails<boolean> {
  if (resolution === undefined) return unknownFlag(question);
  const { enabled, reason, metadata } = resolution;
  return { value: enabled, reason, flagMetadata: metadata };
}

/** What the variant's payload holds. */
export function payloadDetails<T>(
  question: PayloadQuestion<T>,
  resolution: FlagResolution | undefined,
): ResolutionDetails<T> {
  if (resolution === undefined) return unknownFlag(question);
  const { enabled, reason, variant, metadata } = resolution;
  const known = { flagMetadata: metadata, ...(variant && { variant: variant.name }) };
  if (variant?.payload === undefined) {
    return { ...known, value: question.defaultValue, reason: enabled ? 'DEFAULT' : reason };
  }
  const value = payloadValue(variant.payload);
  const place = `The payload of variant ${variant.name} of flag ${question.flag}`;
  if (value === undefined) {
    return {
      ...known,
      ...failure(question, ErrorCode.PARSE_ERROR, `${place} holds no value of type ${variant.payload.type}.`),
    };
  }
  if (typeof value !== question.type) {
    const message = `${place} is of type ${typeof value}, not ${question.type}.`;
    return { ...known, ...failure(question, ErrorCode.TYPE_MISMATCH, message) };
  }
  return { ...known, value: value as T, reason };
}

function unknownFlag<T>(question: Question<T>): ResolutionDetails<T> {
  return failure(question, ErrorCode.FLAG_NOT_FOUND, `There is no flag ${question.flag}.`);
}

function failure<T>({ defaultValue }: Question<T>, errorCode: ErrorCode, errorMessage: string): ResolutionDetails<T> {
  return { value: defaultValue, reason: 'ERROR', errorCode, errorMessage };
}
