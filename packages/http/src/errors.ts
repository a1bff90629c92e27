import { type ErrorCode, type ErrorDetail, FlagsError } from '@flags/core';

/** Why the HTTP layer refuses a request before it reaches the engine. */
export type HttpErrorCode =
  | 'unauthenticated'
  | 'forbidden'
  | 'cross_origin'
  | 'host_not_allowed'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'invalid_json';

/** A refusal by the HTTP layer. */
export class HttpError extends Error {
  constructor(
    readonly code: HttpErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}

/** The HTTP form of an error: its status, and the `name` that API clients know. */
export interface ErrorKind {
  readonly status: number;
  readonly name: string;
}

const badData: ErrorKind = { status: 400, name: 'BadDataError' };
const notFound: ErrorKind = { status: 404, name: 'NotFoundError' };
const nameExists: ErrorKind = { status: 409, name: 'NameExistsError' };
const invalidOperation: ErrorKind = { status: 409, name: 'InvalidOperationError' };
const noAccess: ErrorKind = { status: 403, name: 'NoAccessError' };
const tooLarge: ErrorKind = { status: 422, name: 'UnprocessableEntityError' };
const unavailable: ErrorKind = { status: 503, name: 'ServiceUnavailableError' };

/** The record type requires an entry for every error code. */
export const ERROR_KINDS: Readonly<Record<ErrorCode | HttpErrorCode, ErrorKind>> = {
  invalid_input: { status: 400, name: 'ValidationError' },
  invalid_patch: badData,
  patch_test_failed: { status: 409, name: 'ConflictError' },
  project_not_found: notFound,
  flag_not_found: notFound,
  environment_not_found: notFound,
  strategy_not_found: notFound,
  role_not_found: notFound,
  user_not_found: notFound,
  member_not_found: notFound,
  application_not_found: notFound,
  token_not_found: notFound,
  segment_not_found: notFound,
  parent_not_found: notFound,
  dependency_not_found: notFound,
  change_set_not_found: notFound,
  project_exists: nameExists,
  flag_exists: nameExists,
  member_exists: { status: 400, name: 'NameExistsError' },
  token_exists: nameExists,
  token_deleted: invalidOperation,
  segment_exists: nameExists,
  flag_archived: invalidOperation,
  flag_not_archived: invalidOperation,
  flag_has_children: invalidOperation,
  segment_in_use: invalidOperation,
  dependency_cycle: badData,
  dependency_too_deep: invalidOperation,
  project_protected: { status: 403, name: 'InvalidOperationError' },
  project_not_empty: invalidOperation,
  environment_has_no_strategies: invalidOperation,
  last_owner: { status: 400, name: 'ProjectWithoutOwnerError' },
  document_too_large: tooLarge,
  state_too_large: tooLarge,
  change_set_too_large: tooLarge,
  revision_mismatch: { status: 412, name: 'PreconditionFailedError' },
  undo_conflict: { status: 409, name: 'ConflictError' },
  too_much_contention: unavailable,
  storage_busy: unavailable,
  storage_unavailable: unavailable,
  outcome_unknown: { status: 504, name: 'OutcomeUnknownError' },
  storage_unsupported: { status: 501, name: 'NotImplementedError' },
  user_lookup_failed: unavailable,
  closed: unavailable,
  unauthenticated: { status: 401, name: 'AuthenticationRequired' },
  forbidden: noAccess,
  cross_origin: noAccess,
  host_not_allowed: noAccess,
  not_found: notFound,
  method_not_allowed: { status: 405, name: 'MethodNotAllowedError' },
  payload_too_large: { status: 413, name: 'PayloadTooLargeError' },
  unsupported_media_type: { status: 415, name: 'ContentTypeError' },
  invalid_json: badData,
};

/** Wraps an error of a host function. The host handles it, even if it is a `FlagsError`. */
export class HostFault extends Error {
  constructor(readonly thrown: unknown) {
    super("A function of the host's has thrown.");
  }
}

/** Creates the `invalid_input` error that the engine would throw for these issues. */
export function invalidInput(details: readonly ErrorDetail[]): FlagsError {
  const [first] = details;
  return new FlagsError(
    'invalid_input',
    `The input is not valid: ${[first?.path, first?.message].filter(Boolean).join(' ')}.`,
    details,
  );
}
