import type { Flags } from '@flags/core';
import { describeNonFlags, inputSchemas } from '@flags/core/integration';
import type { RequestHandler } from 'express';
import { createGate, type GateOptions } from './auth.js';
import { createBodyReader } from './body.js';
import { createClientDocuments } from './client/documents.js';
import { createCors } from './cors.js';
import { createDispatch } from './dispatch.js';
import { createEndpoint, type EndpointParts } from './endpoint.js';
import { createHandler } from './handler.js';
import { openApiDocument } from './openapi/document.js';
import type { AuthMode } from './openapi/security.js';
import {
  type Actor,
  assertOptions,
  bodyLimitOf,
  type FlagsRouterOptions,
  heartbeatIntervalOf,
  type SessionRouterOptions,
} from './options.js';
import { createHostCheck } from './origin.js';
import { type Serialized, serialized } from './reply.js';
import { createResponseCaches } from './response-cache.js';
import { ROUTES } from './routes/all-routes.js';
import { accessOf, createRouteLookup } from './routing.js';
import { createHub } from './streaming/hub.js';

/** The router, and the way to end what it has begun. */
export interface FlagsRouter extends RequestHandler {
  /**
   * Ends all streams (`/api/client/streaming`) and refuses others with `closed`; every other request is served as before.
   * Call it before you close the server, which waits for open connections. `flags.close()` ends the streams too. Calling
   * it again does nothing.
   *
   * @example
   * process.once('SIGTERM', () => {
   *   router.close();
   *   server.close(() => void flags.close());
   * });
   */
  close(): void;
}

/**
 * Makes a router that serves these flags: the admin API under `/api/admin`, what server-side SDKs need under
 * `/api/client`, what browser SDKs need under `/api/frontend`, and the OpenFeature Remote Evaluation Protocol under
 * `/ofrep`. Mount it at the root or at any path, before or after body parsers of your own; requests for other paths pass
 * through. Every request that cannot be granted is answered as JSON, also while the storage is busy or away (see
 * {@link FlagsRouterOptions.onError}). Other faults, and what your own functions throw, go to your application's error
 * handler.
 *
 * @param flags stays yours to close
 * @throws TypeError when `flags` is a promise or something else, or the options cannot be used
 * @example
 * const flags = await createFlags({ storage: sqliteStorage('flags.db') });
 * const app = express();
 * app.use(createFlagsRouter(flags, { auth: 'token' }));
 */
export function createFlagsRouter<A extends Actor = Actor>(flags: Flags, options: FlagsRouterOptions<A>): FlagsRouter;
/** The same with sessions and API tokens together. */
export function createFlagsRouter<A extends Actor = Actor>(flags: Flags, options: SessionRouterOptions<A>): FlagsRouter;
export function createFlagsRouter<A extends Actor>(flags: Flags, options: GateOptions<A>): FlagsRouter {
  const fault = describeNonFlags(flags);
  if (fault) throw new TypeError(`createFlagsRouter ${fault}`);
  assertOptions(options);
  const parts = createParts(flags, options);
  const findRoutes = createRouteLookup(ROUTES);
  const dispatch = createDispatch({
    findRoutes,
    endpoints: new Map(ROUTES.map((route) => [route, createEndpoint(route, parts)])),
    gate: createGate(flags, options),
    cors: options.cors && createCors(options.cors),
    checkHost: options.auth === 'none' ? createHostCheck(options) : undefined,
  });
  const handle = createHandler(dispatch, { findRoutes, onError: options.onError ?? (() => undefined) });
  const router: RequestHandler = (request, response, next) => {
    assertExpress(request);
    if (accessOf(request.path) === undefined) next();
    else handle(request, response, next);
  };
  return Object.assign(router, { close: () => parts.hub.close() });
}

/** What Express makes of a request is needed: its path below the mount, and the address behind proxies. */
function assertExpress(request: { readonly path?: unknown }): void {
  if (request.path !== undefined) return;
  throw new TypeError(
    'createFlagsRouter: the router was called without Express. Write createServer(express().use(router)) for plain node:http.',
  );
}

function createParts<A extends Actor>(flags: Flags, options: GateOptions<A>): EndpointParts {
  const inputs = inputSchemas(flags.settings);
  const cacheFor = createResponseCaches();
  const auth = authModeOf(options.auth);
  let document: Serialized | undefined;
  return {
    flags,
    inputs,
    readBody: createBodyReader(bodyLimitOf(options)),
    documents: createClientDocuments(flags, cacheFor('client')),
    replies: cacheFor('admin'),
    hub: createHub(flags, { heartbeatInterval: heartbeatIntervalOf(options), cache: cacheFor('stream') }),
    openApi() {
      document ??= serialized(
        JSON.stringify(openApiDocument({ routes: ROUTES, schemas: inputs, settings: flags.settings, auth })),
      );
      return document;
    },
  };
}

function authModeOf(auth: GateOptions<Actor>['auth']): AuthMode {
  if (typeof auth === 'function') return 'host';
  return typeof auth === 'object' ? 'session' : auth;
}
