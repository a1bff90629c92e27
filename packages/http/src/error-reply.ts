import { type ErrorCode, type ErrorDetail, type FlagsError, isFlagsError } from '@flags/core';
import { ERROR_KINDS, HttpError, type HttpErrorCode } from './errors.js';
import { jsonReply, type Reply } from './reply.js';
import type { Route } from './route.js';

export interface MemberMessage {
  readonly msg: string;
}

/** The 400 body of a member endpoint. Its texts are part of the contract. */
function memberMessages(error: FlagsError | HttpError, project: string): readonly MemberMessage[] {
  if (error instanceof HttpError) return [{ msg: error.message }];
  if (error.code === 'member_exists') return [{ msg: `User already has access to project=${project}` }];
  if (error.code === 'last_owner') return [{ msg: 'A project must have at least one owner.' }];
  return error.details.map(({ path, message }) => ({ msg: path ? `${path} ${message}` : message }));
}

/** The 400 or 404 body of the OpenFeature Remote Evaluation Protocol. */
export interface OfrepFailure {
  /** The requested flag. Absent in requests for all flags. */
  readonly key?: string;
  readonly errorCode: OfrepErrorCode;
  readonly errorDetails: string;
}

export const OFREP_ERROR_CODES = ['FLAG_NOT_FOUND', 'INVALID_CONTEXT', 'PARSE_ERROR', 'GENERAL'] as const;
export type OfrepErrorCode = (typeof OFREP_ERROR_CODES)[number];

/** Invalid input maps to `INVALID_CONTEXT`, because the context is the only validated input of this protocol. */
const CODES: ReadonlyMap<ErrorCode | HttpErrorCode, OfrepErrorCode> = new Map([
  ['flag_not_found', 'FLAG_NOT_FOUND'],
  ['invalid_input', 'INVALID_CONTEXT'],
  ['invalid_json', 'PARSE_ERROR'],
]);

function ofrepFailure({ code, message }: FlagsError | HttpError, key: string | undefined): OfrepFailure {
  const errorCode = CODES.get(code) ?? 'GENERAL';
  return { ...(key !== undefined && { key }), errorCode, errorDetails: message };
}

/** The route of the failed request, if one matched, and its path parameters. */
export interface ErrorPlace {
  readonly route: Route | undefined;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Converts a refusal to a reply. Returns undefined for defects and for errors of host functions, which the host
 * handles.
 */
export function errorReply(error: unknown, { route, params }: ErrorPlace): Reply | undefined {
  if (!isFlagsError(error) && !(error instanceof HttpError)) return undefined;
  // A newer core may have codes without a status here. The host handles these errors.
  if (!Object.hasOwn(ERROR_KINDS, error.code)) return undefined;
  const { status, name } = ERROR_KINDS[error.code];
  if (status === 400 && route?.badRequest === 'messages') {
    return jsonReply({ status, body: memberMessages(error, params.projectId ?? '') });
  }
  if ((status === 400 || status === 404) && route?.protocol === 'ofrep') {
    return jsonReply({ status, body: ofrepFailure(error, keyOf(route, params)) });
  }
  const { code, message } = error;
  return jsonReply({ status, body: { name, code, message, details: detailsOf(error) }, headers: headersOf(error) });
}

/** Returns the requested flag of a single-flag endpoint. Empty when the path cannot be decoded. */
function keyOf({ path }: Route, { key = '' }: ErrorPlace['params']): string | undefined {
  return path.endsWith('/:key') ? key : undefined;
}

function detailsOf(error: FlagsError | HttpError): readonly ErrorDetail[] {
  return error instanceof HttpError ? [{ message: error.message }] : error.details;
}

function headersOf(error: FlagsError | HttpError): Readonly<Record<string, string>> {
  if (error instanceof HttpError) return error.headers;
  return ERROR_KINDS[error.code].status === 503 ? { 'retry-after': '1' } : {};
}
