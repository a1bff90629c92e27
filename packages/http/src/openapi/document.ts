import type { Settings } from '@flags/core';
import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import type { AuthMode } from '../options.js';
import { type ReplySchema, type Route, TAGS } from '../route.js';
import { createSchemaReferences, describeOperation, type OperationContext, securitySchemes } from './operation.js';
import {
  eventSchemas,
  memberSchemas,
  metricsSchemas,
  projectSchemas,
  sessionSchemas,
  tokenSchemas,
} from './schemas/admin.js';
import { changeSchemas } from './schemas/changes.js';
import { clientSchemas, frontendSchemas, ofrepSchemas, playgroundSchemas } from './schemas/clients.js';
import { errorSchemas, text } from './schemas/common.js';
import { dependencySchemas, flagSchemas, segmentSchemas, strategySchemas, variantSchemas } from './schemas/flags.js';

/** The inputs of the OpenAPI document. */
interface DocumentSources {
  readonly routes: readonly Route[];
  readonly schemas: InputSchemas;
  readonly settings: Settings;
  readonly auth: AuthMode;
}

/**
 * Returns the OpenAPI 3.1 document of these routes. Its server URL is relative, so that it points to the mount path.
 */
export function openApiDocument({ routes, schemas, settings, auth }: DocumentSources): object {
  const references = createSchemaReferences(schemas);
  const context: OperationContext = { schemas, settings, auth, refer: references.refer };
  const paths = pathsOf(routes, context);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Feature flag admin API',
      version: '1.0.0',
      description: [
        'Projects, feature flags, strategies, variants, members and metrics.',
        'Any other path is answered with 404 `not_found`, any other method with 405 `method_not_allowed` and `Allow`.',
      ].join(' '),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: mountFrom(routes), description: 'Where the router is mounted, relative to this document' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      schemas: { ...replySchemas(schemas), ...references.referred() },
      securitySchemes: securitySchemes(auth),
    },
  };
}

function pathsOf(routes: readonly Route[], context: OperationContext): object {
  const paths = new Map<string, Record<string, object>>();
  for (const route of routes) {
    const path = openApiPath(route.path);
    const item = paths.get(path) ?? {};
    item[route.method.toLowerCase()] = describeOperation(route, context);
    paths.set(path, item);
  }
  return Object.fromEntries(paths);
}

/** Converts `/projects/:projectId` to OpenAPI syntax: `/projects/{projectId}`. */
function openApiPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** Returns the relative path from the document to the mount: one step up per directory. */
function mountFrom(routes: readonly Route[]): string {
  const own = routes.find(({ action }) => action === 'getOpenApi')?.path ?? '/';
  const directories = own.split('/').length - 2;
  return directories < 1 ? '.' : Array.from({ length: directories }, () => '..').join('/');
}

/** Returns all reply schemas and their components. The type check requires a schema for every reply. */
function replySchemas(inputs: InputSchemas): Readonly<Record<string, JsonSchema>> {
  const schemas = {
    ...projectSchemas,
    ...memberSchemas,
    ...flagSchemas,
    ...strategySchemas(inputs),
    ...variantSchemas,
    ...dependencySchemas,
    ...segmentSchemas,
    ...metricsSchemas,
    ...tokenSchemas,
    ...eventSchemas,
    ...sessionSchemas,
    ...changeSchemas,
    ...clientSchemas,
    ...frontendSchemas,
    ...ofrepSchemas,
    ...playgroundSchemas,
    ...errorSchemas,
    OpenApiDocument: {
      type: 'object',
      properties: { openapi: text, info: { type: 'object' }, paths: { type: 'object' } },
      required: ['openapi', 'info', 'paths'],
    },
  } satisfies Readonly<Record<ReplySchema, JsonSchema>> & Readonly<Record<string, JsonSchema>>;
  return schemas;
}
