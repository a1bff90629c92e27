import type { ErrorCode, FlagsError } from '@flags/core';
import type { Refusal, RefusalCode } from './refusal.js';

/** The body of a 400 or 404 by the OpenFeature Remote Evaluation Protocol. */
export interface OfrepFailure {
  /** The flag that was asked for; absent when it was all of them. */
  readonly key?: string;
  readonly errorCode: OfrepErrorCode;
  readonly errorDetails: string;
}

export const OFREP_ERROR_CODES = ['FLAG_NOT_FOUND', 'INVALID_CONTEXT', 'PARSE_ERROR', 'GENERAL'] as const;
export type OfrepErrorCode = (typeof OFREP_ERROR_CODES)[number];

/** The context is all that a request has to be valid in. */
const CODES: ReadonlyMap<ErrorCode | RefusalCode, OfrepErrorCode> = new Map([
  ['flag_not_found', 'FLAG_NOT_FOUND'],
  ['invalid_input', 'INVALID_CONTEXT'],
  ['invalid_json', 'PARSE_ERROR'],
]);

export function ofrepFailure({ code, message }: FlagsError | Refusal, key: string | undefined): OfrepFailure {
  const errorCode = CODES.get(code) ?? 'GENERAL';
  return { ...(key !== undefined && { key }), errorCode, errorDetails: message };
}
