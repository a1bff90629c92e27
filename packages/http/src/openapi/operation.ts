import { type Settings, TOKEN_KINDS } from '@flags/core';
import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import { kindsFor } from '../auth.js';
import type { AuthMode } from '../options.js';
import type { Access } from '../permissions.js';
import { queryParametersOf } from '../query.js';
import type { Method, QueryParameter, Route, RouteBody } from '../route.js';
import { responsesOf } from './responses.js';
import { positiveInteger } from './schemas/common.js';

type Refer = (schema: JsonSchema) => JsonSchema;

interface SchemaReferences {
  /** Returns a reference to an input schema. Returns any other schema unchanged. */
  readonly refer: Refer;
  /** Returns the component schemas that `refer` has referenced. */
  readonly referred: () => Readonly<Record<string, JsonSchema>>;
}

/** Assigns a component name to each input schema, so that operations with the same input share one component. */
export function createSchemaReferences(schemas: InputSchemas): SchemaReferences {
  const names = new Map(Object.entries(schemas).map(([key, schema]) => [schema as JsonSchema, componentName(key)]));
  const referred = new Map<string, JsonSchema>();
  return {
    refer(schema) {
      const name = names.get(schema);
      if (name === undefined) return schema;
      referred.set(name, schema);
      return { $ref: `#/components/schemas/${name}` };
    },
    referred: () => Object.fromEntries(referred),
  };
}

/** The suffix separates inputs from replies: a strategy in a request has no id, in a reply it has one. */
function componentName(key: string): string {
  return `${key.charAt(0).toUpperCase()}${key.slice(1)}Input`;
}

/** The dependencies of an operation's description beside its route. */
export interface OperationContext {
  readonly schemas: InputSchemas;
  readonly settings: Settings;
  readonly auth: AuthMode;
  readonly refer: Refer;
}

function parametersOf(route: Route, { schemas, settings }: OperationContext): readonly object[] {
  return [
    ...pathNamesOf(route.path).map((name) => pathParameter(name, settings)),
    ...queryParametersOf(route).map((parameter) => queryParameter(parameter, schemas)),
    ...headersOf(route),
  ];
}

function pathNamesOf(path: string): readonly string[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
}

function pathParameter(name: string, settings: Settings): object {
  const { schema, description } = describePathParameter(name, settings);
  return { name, in: 'path', required: true, description, schema };
}

interface ParameterText {
  readonly description: string;
  readonly schema: JsonSchema;
}

const TEXT: JsonSchema = { type: 'string', minLength: 1 };

function describePathParameter(name: string, { environments, roles }: Settings): ParameterText {
  switch (name) {
    case 'projectId':
      return { description: 'The id of the project.', schema: TEXT };
    case 'featureName':
      return { description: 'The name of the flag.', schema: TEXT };
    case 'environment':
      return { description: `The environment: ${listOf(environments.map((one) => one.name))}.`, schema: TEXT };
    case 'type':
      return { description: 'The type of the tag; `simple` is the only one.', schema: TEXT };
    case 'value':
      return { description: 'The label.', schema: TEXT };
    case 'strategyId':
      return { description: 'The id of the strategy.', schema: TEXT };
    case 'parentName':
      return { description: 'The name of the parent flag.', schema: TEXT };
    case 'segmentId':
      return { description: 'The id of the segment.', schema: positiveInteger };
    case 'userId':
      return { description: 'The id of the user in the host application.', schema: positiveInteger };
    case 'roleId':
      return {
        description: `The role: ${listOf(roles.map((role) => `${role.id} ${role.name}`))}.`,
        schema: positiveInteger,
      };
    case 'appName':
      return { description: 'The name of the application.', schema: TEXT };
    case 'key':
      return { description: 'The name of the flag.', schema: TEXT };
    case 'id':
      return { description: 'The id of the change set.', schema: TEXT };
    case 'token':
      return { description: 'The id of the token, or its secret.', schema: TEXT };
    default:
      return { description: `The ${name}.`, schema: TEXT };
  }
}

function listOf(names: readonly string[]): string {
  return names.join(', ');
}

function queryParameter({ name, description, schema }: QueryParameter, schemas: InputSchemas): object {
  const described = schema(schemas);
  const style = described.type === 'object' && { style: 'deepObject', explode: true };
  return { name, in: 'query', required: false, description, schema: described, ...style };
}

const CLIENT_SPEC =
  'The version of the client specification that the client implements. Below 4.2.0, or without it, segments are inlined.';

function headersOf({ method, ifMatch, reply, conditional, vary }: Route): readonly object[] {
  if (reply.media === 'text/event-stream')
    return [header('Last-Event-ID', 'The last event seen, to go on from there.')];
  if (method === 'GET' || conditional) {
    const condition = header('If-None-Match', 'An ETag seen before; answers 304 while it is still true.');
    return vary === undefined ? [condition] : [condition, header(vary, CLIENT_SPEC)];
  }
  if (ifMatch === undefined) return [];
  return [header('If-Match', `The ETag of the ${ifMatch} that the change is based on; 412 when it has moved on.`)];
}

function header(name: string, description: string): object {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}

const MEDIA_TYPES: Readonly<Record<Method, readonly string[]>> = {
  GET: [],
  POST: ['application/json'],
  PUT: ['application/json'],
  PATCH: ['application/json-patch+json', 'application/json'],
  DELETE: ['application/json'],
};

function requestBodyOf(method: Method, body: RouteBody, { schemas, refer }: OperationContext): object {
  const media = { schema: refer(body.schema(schemas)) };
  return {
    required: body.required,
    content: Object.fromEntries(MEDIA_TYPES[method].map((type) => [type, media])),
  };
}

/** An empty requirement beside the others says that authentication is optional. */
function securityFor({ access, isOpen }: Route, auth: AuthMode): readonly object[] {
  const requirements = securityOf(access, auth);
  return isOpen && requirements.length > 0 ? [...requirements, {}] : requirements;
}

export function describeOperation(route: Route, context: OperationContext): object {
  const { action, summary, tag, body } = route;
  return {
    operationId: action,
    summary,
    tags: [tag],
    ...(route.deprecated && { deprecated: true }),
    security: securityFor(route, context.auth),
    parameters: parametersOf(route, context),
    ...(body && { requestBody: requestBodyOf(route.method, body, context) }),
    responses: responsesOf(route, context.auth),
  };
}

const TOKENS: Readonly<Record<string, object>> = Object.fromEntries(
  TOKEN_KINDS.map((kind) => [
    `${kind}Token`,
    {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: `An API token of kind ${kind}, bare or after the word Bearer.`,
    },
  ]),
);

/** The other header that OFREP clients send. */
const OFREP_KEY = {
  ofrepApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description: 'An API token of kind client or frontend, for OFREP only.',
  },
};

const HOST: Readonly<Record<string, object>> = {
  hostApplication: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'Whatever the application that this API is part of asks for: a session, a header or a certificate.',
  },
};

const SCHEMES: Readonly<Record<AuthMode, Readonly<Record<string, object>>>> = {
  none: {},
  token: { ...TOKENS, ...OFREP_KEY },
  host: HOST,
  session: { ...HOST, ...TOKENS, ...OFREP_KEY },
};

export function securitySchemes(auth: AuthMode): Readonly<Record<string, object>> {
  return SCHEMES[auth];
}

/** Returns the security requirements of an operation; empty when it needs no authentication. */
function securityOf(access: Access, auth: AuthMode): readonly Readonly<Record<string, readonly string[]>>[] {
  if (auth === 'none') return [];
  if (auth === 'host') return [{ hostApplication: [] }];
  const byToken: Readonly<Record<string, readonly string[]>>[] = kindsFor(access).map((kind) => ({
    [`${kind}Token`]: [],
  }));
  if (access === 'ofrep') byToken.push({ ofrepApiKey: [] });
  return auth === 'session' && access === 'admin' ? [{ hostApplication: [] }, ...byToken] : byToken;
}
