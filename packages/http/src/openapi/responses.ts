import type { ErrorCode } from '@flags/core';
import type { InputSchemas } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { headerRulesOf, permissionOf, writtenBy } from '../actions.js';
import { PATH_PARAMETERS, pathNamesOf } from '../api/path-parameters.js';
import { type Route, TOO_LARGE } from '../api/route.js';
import type { AuthMode } from '../auth/auth.js';
import { ofrepFailureSchema } from '../features/environments/wire.js';
import { ERROR_KINDS, type HttpErrorCode } from '../messages/errors.js';
import {
  component,
  listOf,
  objectComponent,
  propertiesOf,
  REFERRED,
  type SchemaSource,
  schemaFrom,
  strictObject,
  text,
} from '../messages/schema.js';
import { DEPTH_HEADER } from '../source.js';
import type { OperationContext } from './parameters.js';

const kinds = Object.entries(ERROR_KINDS);

const errorDetailSchema = objectComponent(
  'ErrorDetail',
  { message: text },
  { path: { type: 'string', description: 'A JSON Pointer to the invalid value in the request.' } },
);

const errorSchema = objectComponent('Error', {
  name: { type: 'string', enum: [...new Set(kinds.map(([, { name }]) => name))].sort() },
  code: {
    type: 'string',
    enum: kinds.map(([code]) => code).sort(),
    description: 'Stable identifier of the error. Compare it, not the message.',
  },
  message: { type: 'string', description: 'One sentence that names the fault and what to do.' },
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

/** Whether the route changes a document that may need approval. Other routes declare the error in their rows. */
export function mayNeedApproval({ action, changes, never = [] }: Route): boolean {
  const isSeen = (changes === 'flag' || changes === 'segment') && writtenBy(action) === 'visible';
  return isSeen && !never.includes('approval_required');
}

/** Returns the codes that follow from the other members of a row, so that the row does not list them. */
function generalErrors(route: Route, auth: AuthMode): readonly PossibleCode[] {
  const { method, path, access, body, query, paged, changes, ifMatch, long } = route;
  const isOpen = permissionOf(route.action) === undefined;
  const names = pathNamesOf(path);
  const isWrite = method !== 'GET';
  return [
    ...(auth === 'none' || isOpen ? [] : (['unauthenticated'] as const)),
    ...(isOpen ? [] : (['forbidden'] as const)),
    ...(isWrite && auth !== 'token' ? (['cross_origin'] as const) : []),
    ...(auth === 'none' ? (['host_not_allowed'] as const) : []),
    ...(names.length > 0 || query || paged || body?.required ? (['invalid_input'] as const) : []),
    ...names.flatMap((name) => PATH_PARAMETERS[name].error ?? []),
    ...(body ? (['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const) : []),
    ...(body && access === 'admin' ? TOO_LARGE : []),
    ...(changes === 'flag' && names.includes('featureName') ? (['flag_archived'] as const) : []),
    ...(mayNeedApproval(route) ? (['approval_required'] as const) : []),
    ...(ifMatch ? (['revision_mismatch'] as const) : []),
    ...(isWrite ? (['too_much_contention', 'outcome_unknown'] as const) : []),
    ...(headerRulesOf(route).isRepeatable ? (['id_taken'] as const) : []),
    ...(body || long?.kind === 'plan' || long?.kind === 'change' ? (['overloaded'] as const) : []),
    'storage_busy',
    'storage_unavailable',
    'closed',
  ];
}

const ETAG = {
  description:
    'Version of the representation, for `If-None-Match`. The ETag of a flag, project or segment also serves `If-Match`. Absent if the response exceeds 1 MiB, unless it is for SDKs.',
  required: false,
  schema: { type: 'string', pattern: '^"[^"]+"$' },
};

/** The header of replies to changes. A reply lacks it if the change deleted the flag, or changed several documents. */
const FLAG_ETAG = {
  ...ETAG,
  description:
    'ETag of the changed flag, the same as of a GET, for `If-Match`. Absent unless exactly one flag has changed.',
};

const LINK = {
  description:
    'The next page as `<?query>; rel="next"` (RFC 8288), relative to the address of the request. Absent on the last page.',
  required: false,
  schema: { type: 'string' },
};

const RETRY_AFTER = {
  description: 'Seconds to wait before the next attempt.',
  required: true,
  schema: { type: 'integer', minimum: 0 },
};

const WWW_AUTHENTICATE = {
  description: 'The authentication scheme to use.',
  required: true,
  schema: { type: 'string' },
};

const DEPTH = {
  description:
    'Number of followers between the flags and this server: 0 for the server that has them. Followers read it.',
  required: true,
  schema: { type: 'integer', minimum: 0 },
};

const ERROR_HEADERS: ReadonlyMap<number, Readonly<Record<string, object>>> = new Map([
  [401, { 'WWW-Authenticate': WWW_AUTHENTICATE }],
  [503, { 'Retry-After': RETRY_AFTER }],
]);

const REASONS: ReadonlyMap<number, string> = new Map([
  [400, 'The request is invalid; nothing has changed.'],
  [401, 'The request has no valid credentials.'],
  [403, 'The caller is not permitted to do this.'],
  [404, 'A resource in the path does not exist.'],
  [409, 'The request conflicts with the current state; nothing has changed.'],
  [410, 'The storage no longer has this event.'],
  [412, 'The resource has changed since the ETag in `If-Match`; nothing has changed now.'],
  [413, 'The body is too large.'],
  [415, 'The media type is not JSON, or the content encoding is not supported.'],
  [503, 'The service is busy, unavailable or closing; nothing has changed. Try again.'],
  [
    504,
    'The storage connection was lost during the commit. Read the current state: the change may have been committed.',
  ],
]);

/** Returns all responses of a route, by status. */
export function responsesOf(route: Route, { auth, schemas }: OperationContext): Readonly<Record<string, object>> {
  const errors = [...possibleErrors(route, auth)].map(([status, codes]) => [
    status,
    errorResponse(route, status, codes),
  ]);
  const { method, status, reply, changes, form: { media, isConditional } = {} } = route;
  const hasTag = isConditional || (method === 'GET' && media === undefined);
  const isTagged = hasTag || changes === 'flag' || (changes && reply);
  const headers = {
    ...(isTagged && { ETag: changes === 'flag' ? FLAG_ETAG : ETAG, ...(route.paged && { Link: LINK }) }),
    ...depthHeaders(route),
  };
  const success = {
    description: reply === undefined ? 'Success, without a body.' : 'Success.',
    ...withHeaders(headers),
    ...(reply && content({ media, schema: reply, example: exampleOf(reply, schemas) })),
  };
  return {
    [status]: success,
    ...(hasTag && { 304: { description: 'The representation is unchanged.', headers } }),
    ...Object.fromEntries(errors),
  };
}

function depthHeaders({ access }: Route): Readonly<Record<string, object>> {
  return access === 'admin' ? {} : { [DEPTH_HEADER]: DEPTH };
}

function withHeaders(headers: Readonly<Record<string, object>>): object {
  return Object.keys(headers).length > 0 ? { headers } : {};
}

function errorResponse(route: Route, status: number, codes: readonly PossibleCode[]): object {
  return {
    description: reasonOf(status),
    ...withHeaders({ ...ERROR_HEADERS.get(status), ...depthHeaders(route) }),
    ...content(errorContent(route, status, codes)),
  };
}

function errorContent({ form }: Route, status: number, codes: readonly PossibleCode[]): Content {
  if (status === 400 && form?.errors === 'messages') {
    return { schema: memberErrorsSchema, example: [{ msg: reasonOf(status) }] };
  }
  if ((status === 400 || status === 404) && form?.errors === 'ofrep') {
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
  return REASONS.get(status) ?? 'The request is refused; nothing has changed.';
}

interface Content {
  readonly media?: readonly string[] | undefined;
  readonly schema: object;
  readonly example: unknown;
}

function content({ media = ['application/json'], schema, example }: Content): object {
  const described = { schema, ...(example !== undefined && { example }) };
  return { content: Object.fromEntries(media.map((type) => [type, described])) };
}

const CREATED = '2026-01-02T10:00:00.000Z';
const ID = '0b2e7c8e-6f5c-4a4a-9d3a-1f5a3c1b9e10';

/** Example values, by the name of the member. A schema can have an example of its own, which takes precedence. */
const VALUES: Readonly<Record<string, unknown>> = {
  ...{ name: 'checkout', flag: 'checkout', feature: 'checkout', featureName: 'checkout', key: 'checkout' },
  ...{ project: 'default', projectId: 'default', projects: '*', environment: 'production', displayName: 'Production' },
  ...{ description: 'The new checkout', type: 'release', labels: 'team-shop', children: 'search' },
  ...{ actor: 'ada@example.org', createdBy: 'ada@example.org', owner: 'ada@example.org', reason: 'Launch' },
  ...{ appName: 'web', instanceId: 'web-1', clientIp: '192.0.2.1', tokenName: 'web', username: 'web' },
  ...{ seenToggles: 'checkout', seenApplications: 'web', strategies: 'default', maturity: 'stable' },
  ...{ contextName: 'userId', operator: 'IN', values: '7', userId: '7', stickiness: 'default', groupId: 'checkout' },
  ...{ weightType: 'variable', weight: 1000, rollout: 25, variant: 'blue', variants: null, offBecauseOf: null },
  ...{ kind: 'flag', documents: 'flag/checkout', path: '/environments/production/enabled', strategy: ID },
  ...{ id: '5d41402abc4b2a76', changeSet: '3f0c9e0e-5a53-4d0f-9d0e-5c1c8f2a7b11', before: 'off', after: 'on' },
  ...{ expiresAt: null, lastUsedAt: null, revision: 7, health: 100, roleId: 4, bucket: 12, totalWeight: 1000 },
  ...{ members: 1, memberCount: 1, featureCount: 1, activeCount: 1, strategyCount: 1, metricsCount: 10, total: 1 },
  ...{ totalEvents: 1, yes: 8, no: 2, enabled: true, feature_enabled: true, featureEnabled: true, holds: true },
  ...{ found: true, test: true, protected: true, dryRun: true, actions: 'getFlag' },
};

/**
 * Returns an example of a schema: its own, or one derived from its type and the name of the member.
 * Objects have their required members, and optional ones with a known value, lists and components.
 *
 * @param member the name of the member that has the value
 */
function exampleOf(source: SchemaSource, inputs: InputSchemas, member = ''): unknown {
  const schema = described(schemaFrom(source, inputs));
  const { examples, anyOf, items, minimum, format } = schema;
  if (schema[REFERRED]) return exampleOf(schema[REFERRED], inputs, member);
  if (examples) return examples[0];
  if ('const' in schema) return schema.const;
  if (hasKnownValue(schema, member)) return VALUES[member];
  if (schema.enum) return schema.enum[0];
  if (anyOf?.[0]) return exampleOf(anyOf[0], inputs, member);
  switch (typesOf(schema)[0]) {
    case 'object':
      return exampleOfObject(schema, inputs);
    case 'array':
      return items ? [exampleOf(items, inputs, member)] : [];
    case 'integer':
    case 'number':
      return minimum ?? 1;
    case 'boolean':
      return false;
    case 'string':
      if (typesOf(schema).includes('null')) return null;
      return format === 'date-time' ? CREATED : format === 'uuid' ? ID : '';
    default:
      return null;
  }
}

interface Described extends JsonSchema {
  readonly [REFERRED]?: SchemaSource;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly additionalProperties?: JsonSchema | false;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly type?: string | readonly string[];
  readonly format?: string;
}

function described(schema: JsonSchema): Described {
  return schema;
}

function typesOf({ type = [] }: Described): readonly string[] {
  return typeof type === 'string' ? [type] : type;
}

function hasKnownValue(schema: Described, member: string): boolean {
  const value = Object.hasOwn(VALUES, member) ? VALUES[member] : undefined;
  if (value === undefined || (schema.enum && !schema.enum.includes(value)) || schema.format === 'uuid') return false;
  const types = [schema, ...(schema.anyOf ?? [])].flatMap(typesOf);
  const type = value === null ? 'null' : typeof value;
  return types.includes(type) || (type === 'number' && types.includes('integer'));
}

function isShown(optional: Described): boolean {
  return (optional.examples ?? optional[REFERRED] ?? optional.items) !== undefined;
}

function exampleOfObject(schema: Described, inputs: InputSchemas): object {
  const { required = [], additionalProperties, properties } = schema;
  if (!properties) return additionalProperties ? { checkout: exampleOf(additionalProperties, inputs) } : {};
  const shown = Object.entries(propertiesOf(schema)).filter(
    ([name, property]) => required.includes(name) || isShown(property) || hasKnownValue(property, name),
  );
  return Object.fromEntries(shown.map(([name, property]) => [name, exampleOf(property, inputs, name)]));
}
