import { type ErrorDetail, type FlagsError, isFlagsError } from '@flags/core';
import { jsonReply, type Reply } from '../reply.js';
import type { Route } from '../route.js';
import { ERROR_KINDS } from './error-kinds.js';
import { memberMessages } from './member-messages.js';
import { ofrepFailure } from './ofrep-failure.js';
import { Refusal } from './refusal.js';

/** Where an error happened: the row, if a row was found, and its path's parameters. */
export interface ErrorPlace {
  readonly route: Route | undefined;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * The answer to a request that cannot be granted; undefined for anything else, which is the host's to handle: a defect, or
 * what a function of the host's has thrown.
 */
export function errorReply(error: unknown, { route, params }: ErrorPlace): Reply | undefined {
  if (!isFlagsError(error) && !(error instanceof Refusal)) return undefined;
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

/** Of an endpoint for one flag. Nothing is known of a path that cannot be decoded. */
function keyOf({ path }: Route, { key = '' }: ErrorPlace['params']): string | undefined {
  return path.endsWith('/:key') ? key : undefined;
}

function detailsOf(error: FlagsError | Refusal): readonly ErrorDetail[] {
  return error instanceof Refusal ? [{ message: error.message }] : error.details;
}

function headersOf(error: FlagsError | Refusal): Readonly<Record<string, string>> {
  if (error instanceof Refusal) return error.headers;
  return ERROR_KINDS[error.code].status === 503 ? { 'retry-after': '1' } : {};
}
