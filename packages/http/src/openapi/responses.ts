import type { ErrorCode } from '@flags/core';
import { ERROR_KINDS, type HttpErrorCode } from '../errors.js';
import type { AuthMode } from '../options.js';
import type { ReplySchema, Route } from '../route.js';
import { EXAMPLES } from './examples.js';
import { referTo } from './schemas/common.js';

export type PossibleCode = ErrorCode | HttpErrorCode;

/** Returns the possible error codes of a route, by status. */
export function possibleErrors(route: Route, auth: AuthMode): ReadonlyMap<number, readonly PossibleCode[]> {
  const codes = [...new Set([...generalErrors(route, auth), ...route.errors])].sort();
  const statuses = new Set(codes.map(statusOf).sort());
  return new Map([...statuses].map((status) => [status, codes.filter((code) => statusOf(code) === status)]));
}

function statusOf(code: PossibleCode): number {
  return ERROR_KINDS[code].status;
}

/** Returns the codes that follow from the properties of a route, so that the route does not list them. */
function generalErrors(route: Route, auth: AuthMode): readonly PossibleCode[] {
  return [
    ...(auth === 'none' || route.isOpen ? [] : (['unauthenticated'] as const)),
    ...(route.isOpen ? [] : (['forbidden'] as const)),
    ...(isGuarded(route) && auth !== 'token' ? (['cross_origin'] as const) : []),
    ...(auth === 'none' ? (['host_not_allowed'] as const) : []),
    ...(route.path.includes(':') ? (['invalid_input'] as const) : []),
    ...(route.body === undefined ? [] : bodyErrors(route)),
    ...(route.ifMatch === undefined ? [] : (['revision_mismatch'] as const)),
    ...(writesDefinitions(route) ? (['document_too_large', 'state_too_large', 'change_set_too_large'] as const) : []),
    ...(route.method === 'GET' ? [] : (['too_much_contention', 'outcome_unknown'] as const)),
    ...(route.heavy === undefined ? [] : (['overloaded'] as const)),
    'storage_busy',
    'storage_unavailable',
    'closed',
  ];
}

const DEFINITION_TAGS: readonly string[] = [
  ...[
    'Projects',
    'Members',
    'Flags',
    'Strategies',
    'Variants',
    'Segments',
    'Dependencies',
    'Change sets',
    'Flags as code',
  ],
];

/** Requests without a body only toggle or delete, so they cannot exceed a size limit. */
function writesDefinitions({ tag, body }: Route): boolean {
  return body !== undefined && DEFINITION_TAGS.includes(tag);
}

function bodyErrors({ body }: Route): readonly PossibleCode[] {
  const reading = ['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const;
  return body?.required ? [...reading, 'invalid_input'] : reading;
}

/** Returns whether the route refuses writes from pages of other origins. */
function isGuarded({ method, access }: Route): boolean {
  return method !== 'GET' && (access === 'admin' || access === 'client');
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
export function responsesOf(route: Route, auth: AuthMode): Readonly<Record<string, object>> {
  const errors = [...possibleErrors(route, auth)].map(([status, codes]) => [
    status,
    errorResponse(route, status, codes),
  ]);
  return {
    [route.reply.status]: success(route),
    ...(hasTag(route) && { 304: { description: 'Nothing has changed since.', headers: headersOf(route) } }),
    ...Object.fromEntries(errors),
  };
}

/** Reply schemas of documents that support `If-Match`. */
const REVISED: ReadonlySet<ReplySchema | undefined> = new Set(['Flag', 'Tag', 'TagList', 'Project', 'Segment']);

function hasTag({ method, reply, conditional }: Route): boolean {
  return conditional || (method === 'GET' && reply.media === undefined);
}

function headersOf({ paged, changes }: Route): object {
  return { ETag: changes === undefined ? ETAG : FLAG_ETAG, ...(paged && { Link: LINK }) };
}

function success(route: Route): object {
  const { reply } = route;
  const showsRevision = REVISED.has(reply.schema) || route.changes !== undefined;
  return {
    description: reply.schema === undefined ? 'Done; no body.' : 'Done.',
    ...((hasTag(route) || showsRevision) && { headers: headersOf(route) }),
    ...(reply.schema &&
      content({ media: reply.media, schema: referTo(reply.schema), example: exampleOf(reply.schema) })),
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
    return { schema: referTo('MemberErrors'), example: [{ msg: reasonOf(status) }] };
  }
  if ((status === 400 || status === 404) && protocol === 'ofrep') {
    return { schema: referTo('OfrepFailure'), example: { errorCode: 'GENERAL', errorDetails: reasonOf(status) } };
  }
  return { schema: errorSchema(codes), example: errorExample(status, codes) };
}

/** Returns the schema of the common error body, with the possible codes and names. */
function errorSchema(codes: readonly PossibleCode[]): object {
  const names = [...new Set(codes.map((code) => ERROR_KINDS[code].name))];
  return {
    allOf: [referTo('Error'), { type: 'object', properties: { code: { enum: codes }, name: { enum: names } } }],
  };
}

function errorExample(status: number, [code = 'not_found']: readonly PossibleCode[]): unknown {
  const message = reasonOf(status);
  return { name: ERROR_KINDS[code].name, code, message, details: [{ message }] };
}

function exampleOf(schema: ReplySchema): unknown {
  return schema === 'OpenApiDocument' ? undefined : EXAMPLES[schema];
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
