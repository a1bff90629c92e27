import { ERROR_CODES, type ErrorCode, type ErrorDetail, FlagsError, isFlagsError } from '@flags/core';
import { shortenMessage } from '@flags/core/integration/http';
import { type FlagsReply, jsonReply } from './reply.js';

/** Why the HTTP layer refuses a request before it reaches the engine. */
export type HttpErrorCode =
  | Extract<ErrorCode, 'unauthenticated' | 'forbidden'>
  | 'cross_origin'
  | 'host_not_allowed'
  | 'not_found'
  | 'method_not_allowed'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'invalid_json'
  | 'overloaded';

/** A refusal by the HTTP layer. */
export class HttpError extends Error {
  /** Shortens long texts, because they may quote a path or a header of any length. */
  constructor(
    readonly code: HttpErrorCode,
    message: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(shortenMessage(message));
  }
}

/** Refuses a request while all places are taken and the queue is full. */
export function overloaded(
  message = 'Other long requests are running, and the queue is full. Nothing has changed. Try again later.',
): HttpError {
  return new HttpError('overloaded', message);
}

/** The HTTP form of an error: its status, and the `name` that API clients know. */
interface ErrorKind {
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

type MissingDocument = Extract<ErrorCode, `${string}_not_found`>;

const MISSING_DOCUMENTS = Object.fromEntries(
  ERROR_CODES.filter((code) => code.endsWith('_not_found')).map((code) => [code, notFound]),
) as Readonly<Record<MissingDocument, ErrorKind>>;

/**
 * The record type requires an entry for every error code, except those that end in `_not_found`. The docstrings are the meanings
 * of those that only this API has, in docs/reference/error-codes.md.
 */
export const ERROR_KINDS: Readonly<Record<ErrorCode | HttpErrorCode, ErrorKind>> = {
  ...MISSING_DOCUMENTS,
  invalid_input: { status: 400, name: 'ValidationError' },
  invalid_patch: badData,
  patch_test_failed: { status: 409, name: 'ConflictError' },
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
  environment_disabled: invalidOperation,
  last_owner: { status: 400, name: 'ProjectWithoutOwnerError' },
  document_too_large: tooLarge,
  change_set_too_large: tooLarge,
  revision_mismatch: { status: 412, name: 'PreconditionFailedError' },
  undo_conflict: { status: 409, name: 'ConflictError' },
  id_taken: { status: 409, name: 'ConflictError' },
  due_disabled: invalidOperation,
  rollout_exists: { status: 409, name: 'ConflictError' },
  author_revoked: invalidOperation,
  approval_required: invalidOperation,
  own_change_request: invalidOperation,
  change_request_not_open: { status: 409, name: 'ConflictError' },
  effect_changed: { status: 409, name: 'ConflictError' },
  too_much_contention: unavailable,
  storage_busy: unavailable,
  storage_unavailable: unavailable,
  outcome_unknown: { status: 504, name: 'OutcomeUnknownError' },
  history_lost: { status: 410, name: 'HistoryLostError' },
  storage_unsupported: { status: 501, name: 'NotImplementedError' },
  user_lookup_failed: unavailable,
  upstream_unavailable: unavailable,
  upstream_loop: { status: 409, name: 'UpstreamLoopError' },
  closed: unavailable,
  unauthenticated: { status: 401, name: 'AuthenticationRequired' },
  forbidden: noAccess,
  /** A page of another origin sent the request. */
  cross_origin: noAccess,
  /** With `auth: 'none'`: the header `Host` names an unknown host. */
  host_not_allowed: noAccess,
  /** No such path exists. */
  not_found: notFound,
  /** The path has other methods. `Allow` lists them. */
  method_not_allowed: { status: 405, name: 'MethodNotAllowedError' },
  /** The body is larger than `bodyLimit`, or has more than `structure`. */
  payload_too_large: { status: 413, name: 'PayloadTooLargeError' },
  /** The body is not JSON. */
  unsupported_media_type: { status: 415, name: 'ContentTypeError' },
  /** The body is malformed JSON, or deeper than `depth`. */
  invalid_json: badData,
  /** Other heavy requests run or wait. Try again. */
  overloaded: unavailable,
};

/** Wraps an error of a host function. The host handles it, even if it is a `FlagsError`. */
export class HostFault extends Error {
  constructor(readonly thrown: unknown) {
    super('A function of the host application has thrown.');
  }
}

/** A function of the host has returned a wrong actor. `onError` gets the report, and the host a `TypeError`. */
export class InvalidActor extends HostFault {
  readonly report: FlagsError;

  constructor(message: string) {
    const thrown = new TypeError(message);
    super(thrown);
    this.report = new FlagsError('invalid_input', message, undefined, { cause: thrown });
  }
}

/** Wraps values that are not objects. Express treats some thrown values (undefined, `'router'`) as its own signals. */
export function toErrorObject(error: unknown): object {
  if (error instanceof HostFault) return toErrorObject(error.thrown);
  return typeof error === 'object' && error !== null ? error : new Error(`Thrown: ${String(error)}`, { cause: error });
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

/** The 400 body of a member endpoint. Its texts are part of the contract. */
function memberMessages(error: FlagsError | HttpError, project: string) {
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
type OfrepErrorCode = (typeof OFREP_ERROR_CODES)[number];

/** Invalid input maps to `INVALID_CONTEXT`, because the context is the only validated input of this protocol. */
const CODES: ReadonlyMap<ErrorCode | HttpErrorCode, OfrepErrorCode> = new Map([
  ['flag_not_found', 'FLAG_NOT_FOUND'],
  ['invalid_input', 'INVALID_CONTEXT'],
  ['invalid_json', 'PARSE_ERROR'],
]);

/** Converts a refusal to the failure of this protocol, about a flag or about all. */
export function ofrepFailure({ code, message }: FlagsError | HttpError, key: string | undefined): OfrepFailure {
  const errorCode = CODES.get(code) ?? 'GENERAL';
  return { ...(key !== undefined && { key }), errorCode, errorDetails: message };
}

/** The form of error bodies. Absent: the common form. */
export type ErrorForm = 'messages' | 'ofrep';

interface FailedRoute {
  readonly path: string;
  readonly form?: { readonly errors?: ErrorForm };
}

/** The route of the failed request, if one matched, and its path parameters. */
interface ErrorPlace {
  readonly route: FailedRoute | undefined;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Converts a refusal to a reply. Returns undefined for defects and for errors of host functions, which the host
 * handles.
 */
export function errorReply(error: unknown, { route, params }: ErrorPlace): FlagsReply | undefined {
  if (!isFlagsError(error) && !(error instanceof HttpError)) return undefined;
  // A newer core may have codes without a status in this table. The host handles these errors.
  if (!Object.hasOwn(ERROR_KINDS, error.code)) return undefined;
  const { status, name } = ERROR_KINDS[error.code];
  if (status === 400 && route?.form?.errors === 'messages') {
    return jsonReply(status, memberMessages(error, params.projectId ?? ''));
  }
  if ((status === 400 || status === 404) && route?.form?.errors === 'ofrep') {
    return jsonReply(status, ofrepFailure(error, keyOf(route, params)));
  }
  const { code, message } = error;
  return jsonReply(status, { name, code, message, details: detailsOf(error) }, headersOf(error));
}

/** Returns the requested flag of a single-flag endpoint. Empty when the path cannot be decoded. */
function keyOf({ path }: FailedRoute, { key = '' }: ErrorPlace['params']): string | undefined {
  return path.endsWith('/:key') ? key : undefined;
}

function detailsOf(error: FlagsError | HttpError): readonly ErrorDetail[] {
  return error instanceof HttpError ? [{ message: error.message }] : error.details;
}

function headersOf(error: FlagsError | HttpError): Readonly<Record<string, string>> {
  const own = error instanceof HttpError ? error.headers : {};
  return ERROR_KINDS[error.code].status === 503 ? { ...own, 'retry-after': '1' } : own;
}
