import { type Flags, inputSchemas } from '@flags/core';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { createGate } from './auth/gate.js';
import { createBodyReader } from './body.js';
import { createClientDocuments } from './client/documents.js';
import { createCors } from './cors.js';
import { createEndpoint, type EndpointParts } from './endpoint.js';
import { type Answer, createHandler } from './handler.js';
import { openApiDocument } from './openapi/document.js';
import { type Actor, bodyLimitOf, checkOptions, type FlagsRouterOptions, heartbeatIntervalOf } from './options.js';
import type { Access, Method } from './route.js';
import { accessOf, createRouteLookup } from './route-lookup.js';
import { ROUTES } from './routes/all-routes.js';
import { type Serialized, serialized } from './serialized.js';
import { createHub } from './streaming/hub.js';
import { isDecodable, refuseUndecodable, refuseUnmatched } from './unmatched.js';

/** Express tries one route after the other: what applications ask comes before what people do. */
const MOST_USED_FIRST = [...ROUTES].sort(
  (one, other) => Number(one.access === 'admin') - Number(other.access === 'admin'),
);

/** The router, and the way to end what it has begun. */
export interface FlagsRouter extends Router {
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
 * {@link FlagsRouterOptions.onFault}). Other faults, and what your own functions throw, go to your application's error
 * handler.
 *
 * @param flags stays yours to close
 * @throws TypeError when the options cannot be used
 * @example
 * const flags = await createFlags({ storage: sqliteStorage('flags.db') });
 * const app = express();
 * app.use(createFlagsRouter(flags, { auth: 'token' }));
 */
export function createFlagsRouter<A extends Actor = Actor>(flags: Flags, options: FlagsRouterOptions<A>): FlagsRouter {
  checkOptions(options);
  const router = Router();
  const findRoutes = createRouteLookup(ROUTES);
  const handler = (answer: Answer) =>
    createHandler(answer, { findRoutes, onFault: options.onFault ?? (() => undefined) });
  const gate = createGate(flags, options);
  const refuse = handler(async (request) => {
    const access = accessTo(request);
    if (access !== undefined) await gate(request, access);
    if (!isDecodable(request.path)) return refuseUndecodable(request.path);
    return access === undefined ? undefined : refuseUnmatched(request, findRoutes(request.path));
  });

  if (options.cors) {
    const cors = createCors(options.cors);
    router.use(handler(async (request, response) => cors(request, response)));
  }
  const parts = createParts(flags, options);
  for (const route of MOST_USED_FIRST) {
    const endpoint = createEndpoint(route, parts);
    const method = route.method.toLowerCase() as Lowercase<Method>;
    router[method](
      route.path,
      handler(async (request, response) => endpoint({ request, response, visitor: await gate(request, route.access) })),
    );
  }
  router.use((request, response, next) => {
    if (accessOf(request.path) === undefined) next();
    else refuse(request, response, next);
  });
  // Express fails on an escape that it cannot decode, where it looks for a route with parameters.
  router.use((error: unknown, request: Request, response: Response, next: NextFunction) => {
    if (accessOf(request.path) === undefined || isDecodable(request.path)) next(error);
    else refuse(request, response, next);
  });
  return Object.assign(router, { close: () => parts.hub.close() });
}

/** Undefined for what passes through: paths elsewhere, and OPTIONS, which Express answers from the methods it knows. */
function accessTo({ path, method }: Request): Access | undefined {
  return method === 'OPTIONS' ? undefined : accessOf(path);
}

function createParts<A extends Actor>(flags: Flags, options: FlagsRouterOptions<A>): EndpointParts {
  const inputs = inputSchemas(flags.settings);
  const auth = typeof options.auth === 'function' ? 'host' : options.auth;
  let document: Serialized | undefined;
  return {
    flags,
    inputs,
    readBody: createBodyReader(bodyLimitOf(options)),
    documents: createClientDocuments(flags),
    hub: createHub(flags, { heartbeatInterval: heartbeatIntervalOf(options) }),
    openApi() {
      document ??= serialized(
        JSON.stringify(openApiDocument({ routes: ROUTES, schemas: inputs, settings: flags.settings, auth })),
      );
      return document;
    },
  };
}
