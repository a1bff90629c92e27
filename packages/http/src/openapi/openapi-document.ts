import { TOKEN_KINDS } from '@flags/core';
import type { InputSchemas } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { permissionOf } from '../actions.js';
import type { Method, Route, RouteBody, RouteGroup } from '../api/route.js';
import type { AuthMode } from '../auth/auth.js';
import { kindsFor } from '../auth/auth.js';
import type { Access } from '../auth/permissions.js';
import { component, REFERRED, type SchemaSource, schemaFrom } from '../messages/schema.js';
import { type OperationContext, parametersOf } from './parameters.js';
import { responsesOf } from './responses.js';

interface DocumentSources extends OperationContext {
  readonly groups: readonly RouteGroup[];
}

/**
 * Returns the OpenAPI 3.1 document of these routes. Its server URL is relative, so that it points to the mount path.
 */
export function openApiDocument({ groups, ...context }: DocumentSources): object {
  const { schemas, auth } = context;
  const inputs = new Map<JsonSchema, string>(Object.entries(schemas).map(([name, schema]) => [schema, name]));
  const paths = new Map<string, Record<string, object>>();
  for (const { tag, routes } of groups) {
    for (const route of routes) {
      const path = openApiPath(route.path);
      const item = paths.get(path) ?? {};
      const operation = describeOperation(route, context, inputs);
      item[route.method.toLowerCase()] = { ...operation, tags: [tag] };
      paths.set(path, item);
    }
  }
  const described = Object.fromEntries(paths);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Feature flag admin API',
      version: '1.0.0',
      description: [
        'Projects, feature flags, strategies, variants, members and metrics.',
        'Other paths return 404 `not_found`; other methods return 405 `method_not_allowed` with an `Allow` header.',
      ].join(' '),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: mountFrom(groups), description: 'The path where the router is mounted, relative to this document' },
    ],
    tags: groups.map(({ tag, description }) => ({ name: tag, description })),
    paths: described,
    components: {
      schemas: Object.fromEntries(componentsIn(described, schemas)),
      securitySchemes: securitySchemes(auth),
    },
  };
}

/** Converts `/projects/:projectId` to OpenAPI syntax: `/projects/{projectId}`. */
function openApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** Returns the relative path from the document to the mount: one step up per directory. */
function mountFrom(groups: readonly RouteGroup[]): string {
  const routes = groups.flatMap((group) => group.routes);
  const own = routes.find(({ action }) => action === 'getOpenApi')?.path ?? '/';
  const directories = own.split('/').length - 2;
  return directories < 1 ? '.' : Array.from({ length: directories }, () => '..').join('/');
}

/** Returns the schemas of all components that a part of the document refers to, by name. */
function componentsIn(
  part: unknown,
  schemas: InputSchemas,
  components = new Map<string, JsonSchema>(),
): ReadonlyMap<string, JsonSchema> {
  if (typeof part !== 'object' || part === null) return components;
  const { $ref, [REFERRED]: source } = part as { readonly $ref?: string; readonly [REFERRED]?: SchemaSource };
  const name = $ref?.split('/').at(-1);
  if (source !== undefined && name !== undefined && !components.has(name)) {
    const schema = schemaFrom(source, schemas);
    components.set(name, schema);
    componentsIn(schema, schemas, components);
  }
  for (const member of Object.values(part)) componentsIn(member, schemas, components);
  return components;
}

function describeOperation(route: Route, context: OperationContext, inputs: ReadonlyMap<JsonSchema, string>): object {
  const { action, summary, body, deprecated, method } = route;
  return {
    operationId: action,
    summary,
    ...(deprecated && { deprecated }),
    security: securityFor(route, context.auth),
    parameters: parametersOf(route, context),
    ...(body && { requestBody: requestBodyOf(method, body, { ...context, inputs }) }),
    responses: responsesOf(route, context),
  };
}

const MEDIA_TYPES: Readonly<Record<Method, readonly string[]>> = {
  GET: [],
  POST: ['application/json'],
  PUT: ['application/json'],
  PATCH: ['application/json-patch+json', 'application/json'],
  DELETE: ['application/json'],
};

/** Operations with the same input of the engine share one component. */
function requestBodyOf(
  method: Method,
  { required, schema: source }: RouteBody,
  { schemas, inputs }: { readonly schemas: InputSchemas; readonly inputs: ReadonlyMap<JsonSchema, string> },
): object {
  const given = schemaFrom(source, schemas);
  const input = inputs.get(given);
  const media = { schema: input === undefined ? given : component(componentName(input), given) };
  return { required, content: Object.fromEntries(MEDIA_TYPES[method].map((type) => [type, media])) };
}

/** The suffix separates inputs from replies: a strategy in a request has no id, in a reply it has one. */
function componentName(key: string): string {
  return `${key.charAt(0).toUpperCase()}${key.slice(1)}Input`;
}

/** An empty requirement beside the others says that authentication is optional. */
function securityFor({ access, action }: Route, auth: AuthMode): readonly object[] {
  const requirements = securityOf(access, auth);
  return permissionOf(action) === undefined && requirements.length > 0 ? [...requirements, {}] : requirements;
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
    description: 'An API token of kind client or frontend; only for OFREP.',
  },
};

const HOST: Readonly<Record<string, object>> = {
  hostApplication: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The authentication of the host application, for example a session, a header or a certificate.',
  },
};

const SCHEMES: Readonly<Record<AuthMode, Readonly<Record<string, object>>>> = {
  none: {},
  token: { ...TOKENS, ...OFREP_KEY },
  host: HOST,
  session: { ...HOST, ...TOKENS, ...OFREP_KEY },
};

function securitySchemes(auth: AuthMode): Readonly<Record<string, object>> {
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
