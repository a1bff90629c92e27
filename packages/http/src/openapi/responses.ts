import type { ErrorCode } from '@flags/core';
import { ERROR_KINDS, type HttpErrorCode, OFREP_ERROR_CODES } from '../errors.js';
import type { AuthMode } from '../options.js';
import { isRepeatable, type Route, TOO_LARGE } from '../route.js';
import { component, listOf, objectComponent, strictObject, text } from '../schema.js';
import { exampleOf } from './examples.js';
import { type OperationContext, PATH_PARAMETERS, pathNamesOf } from './parameters.js';

const kinds = Object.entries(ERROR_KINDS);

const ofrepFailureSchema = objectComponent(
  'OfrepFailure',
  { errorCode: { type: 'string', enum: OFREP_ERROR_CODES }, errorDetails: text },
  { key: { type: 'string', description: 'The flag that was asked for, if it was one.' } },
);

const errorDetailSchema = objectComponent(
  'ErrorDetail',
  { message: text },
  { path: { type: 'string', description: 'A JSON Pointer into what was sent.' } },
);

const errorSchema = objectComponent('Error', {
  name: { type: 'string', enum: [...new Set(kinds.map(([, { name }]) => name))].sort() },
  code: {
    type: 'string',
    enum: kinds.map(([code]) => code).sort(),
    description: 'Stable: code against it, not against messages.',
  },
  message: { type: 'string', description: 'One sentence that says what to do.' },
  details: listOf(errorDetailSchema),
});

const memberErrorsSchema = component('MemberErrors', {
  ...listOf(strictObject({ msg: text })),
  minItems: 1,
});

export type PossibleCode = ErrorCode | HttpErrorCode;

/** Returns the possible error codes of a route, by status. */
export function possibleErrors(route: Route, auth: AuthMode): ReadonlyMap<number, readonly PossibleCode[]> {
  const { errors = [], never = [] } = route;
  const impossible: readonly PossibleCode[] = never;
  const codes = [...new Set([...generalErrors(route, auth), ...errors])]
    .filter((code) => !impossible.includes(code))
    .sort();
  const statuses = new Set(codes.map(statusOf).sort());
  return new Map([...statuses].map((status) => [status, codes.filter((code) => statusOf(code) === status)]));
}

function statusOf(code: PossibleCode): number {
  return ERROR_KINDS[code].status;
}

/** Returns the codes that follow from the other members of a row, so that the row does not list them. */
function generalErrors(route: Route, auth: AuthMode): readonly PossibleCode[] {
  const { method, path, access, body, query, paged, changes, ifMatch, heavy, isOpen } = route;
  const names = pathNamesOf(path);
  const isWrite = method !== 'GET';
  return [
    ...(auth === 'none' || isOpen ? [] : (['unauthenticated'] as const)),
    ...(isOpen ? [] : (['forbidden'] as const)),
    ...(isWrite && (access === 'admin' || access === 'client') && auth !== 'token' ? (['cross_origin'] as const) : []),
    ...(auth === 'none' ? (['host_not_allowed'] as const) : []),
    ...(names.length > 0 || query || paged || body?.required ? (['invalid_input'] as const) : []),
    ...names.flatMap((name) => PATH_PARAMETERS[name]?.error ?? []),
    ...(body ? (['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const) : []),
    ...(body && access === 'admin' ? TOO_LARGE : []),
    ...(changes === 'flag' && names.includes('featureName') ? (['flag_archived'] as const) : []),
    ...(ifMatch ? (['revision_mismatch'] as const) : []),
    ...(isWrite ? (['too_much_contention', 'outcome_unknown'] as const) : []),
    ...(isRepeatable(route) ? (['id_taken'] as const) : []),
    ...(heavy ? (['overloaded'] as const) : []),
    'storage_busy',
    'storage_unavailable',
    'closed',
  ];
}

const ETAG = {
  description: 'Changes when what is shown changes; for If-None-Match, and of a flag, project or segment for If-Match.',
  required: true,
  schema: { type: 'string', pattern: '^"[^"]+"$' },
};

/** Deleted flags, and change sets of several documents, have none. */
const FLAG_ETAG = {
  ...ETAG,
  required: false,
  description: 'That of the changed flag, as a GET of it would give; for If-Match. Absent unless one flag has changed.',
};

const LINK = {
  description: 'Of a page that is not the last: where the next one is, as `<address>; rel="next"` (RFC 8288).',
  required: false,
  schema: { type: 'string' },
};

const RETRY_AFTER = {
  description: 'Seconds to wait before trying again.',
  required: true,
  schema: { type: 'integer', minimum: 0 },
};

const WWW_AUTHENTICATE = {
  description: 'The scheme that the request could have used.',
  required: true,
  schema: { type: 'string' },
};

const ERROR_HEADERS: ReadonlyMap<number, object> = new Map([
  [401, { 'WWW-Authenticate': WWW_AUTHENTICATE }],
  [503, { 'Retry-After': RETRY_AFTER }],
]);

const REASONS: ReadonlyMap<number, string> = new Map([
  [400, 'The request is not valid; nothing has changed.'],
  [401, 'Nobody, or nobody known, makes the request.'],
  [403, 'This is not allowed.'],
  [404, 'Something that the path names does not exist.'],
  [409, 'The present state does not allow this; nothing has changed.'],
  [412, 'The state that If-Match names is not the present one; nothing has changed.'],
  [413, 'The body is too large.'],
  [415, 'The body is not JSON, or is encoded in a way that is not read.'],
  [503, 'Too busy, away, or closing; nothing has changed, try again.'],
  [504, 'The connection to the storage was lost during the commit: look whether the change was made.'],
]);

/** Returns all responses of a route, by status. */
export function responsesOf(route: Route, { auth, schemas }: OperationContext): Readonly<Record<string, object>> {
  const errors = [...possibleErrors(route, auth)].map(([status, codes]) => [
    status,
    errorResponse(route, status, codes),
  ]);
  const headers = { ETag: route.changes === 'flag' ? FLAG_ETAG : ETAG, ...(route.paged && { Link: LINK }) };
  const { method, status, media, reply, conditional, changes } = route;
  const hasTag = conditional || (method === 'GET' && media === undefined);
  const success = {
    description: reply === undefined ? 'Done; no body.' : 'Done.',
    ...((hasTag || changes === 'flag' || (changes && reply)) && { headers }),
    ...(reply && content({ media, schema: reply, example: exampleOf(reply, schemas) })),
  };
  return {
    [status]: success,
    ...(hasTag && { 304: { description: 'Nothing has changed since.', headers } }),
    ...Object.fromEntries(errors),
  };
}

function errorResponse(route: Route, status: number, codes: readonly PossibleCode[]): object {
  const headers = ERROR_HEADERS.get(status);
  return {
    description: reasonOf(status),
    ...(headers && { headers }),
    ...content(errorContent(route, status, codes)),
  };
}

function errorContent({ badRequest, protocol }: Route, status: number, codes: readonly PossibleCode[]): Content {
  if (status === 400 && badRequest === 'messages') {
    return { schema: memberErrorsSchema, example: [{ msg: reasonOf(status) }] };
  }
  if ((status === 400 || status === 404) && protocol === 'ofrep') {
    return { schema: ofrepFailureSchema, example: { errorCode: 'GENERAL', errorDetails: reasonOf(status) } };
  }
  return { schema: schemaOfCodes(codes), example: errorExample(status, codes) };
}

/** Returns the schema of the common error body, with the possible codes and names. */
function schemaOfCodes(codes: readonly PossibleCode[]): object {
  const names = [...new Set(codes.map((code) => ERROR_KINDS[code].name))];
  return {
    allOf: [errorSchema, { type: 'object', properties: { code: { enum: codes }, name: { enum: names } } }],
  };
}

function errorExample(status: number, [code = 'not_found']: readonly PossibleCode[]): unknown {
  const message = reasonOf(status);
  return { name: ERROR_KINDS[code].name, code, message, details: [{ message }] };
}

function reasonOf(status: number): string {
  return REASONS.get(status) ?? 'The request cannot be granted.';
}

interface Content {
  readonly media?: string | undefined;
  readonly schema: object;
  readonly example: unknown;
}

function content({ media = 'application/json', schema, example }: Content): object {
  return { content: { [media]: { schema, ...(example !== undefined && { example }) } } };
}
