import { type Flags, isFlagsError } from '@flags/core';
import { describeNonFlags, inputSchemas } from '@flags/core/integration';
import { createGate, type GateOptions } from './auth.js';
import { createBodyReader } from './body.js';
import { createClientDocuments } from './client/documents.js';
import { createCors } from './cors.js';
import { createDispatch } from './dispatch.js';
import { createEndpoint, type EndpointParts } from './endpoint.js';
import { errorReply } from './error-reply.js';
import { HostFault } from './errors.js';
import { openApiDocument } from './openapi/document.js';
import type { AuthMode } from './openapi/security.js';
import {
  type Actor,
  assertOptions,
  bodyLimitOf,
  type FlagsApiOptions,
  heartbeatIntervalOf,
  type SessionApiOptions,
} from './options.js';
import { createHostCheck } from './origin.js';
import { type FlagsReply, type Reply, type Serialized, serialized, toFlagsReply } from './reply.js';
import type { FlagsRequest } from './request.js';
import { createResponseCaches } from './response-cache.js';
import { ROUTES } from './routes/all-routes.js';
import { accessOf, createRouteLookup, decodeParams } from './routing.js';
import { createHub } from './streaming/hub.js';

/** The HTTP API of an engine, independent of any framework. Adapters call it; `toNodeHandler` and `toFetchHandler` are two. */
export interface FlagsApi<Native = unknown> {
  /** Whether the API answers this path. Every other path belongs to the host. */
  isOwnPath(path: string): boolean;
  /**
   * Answers a request. Resolves to undefined for paths that are not its own. Rejects with defects, and with errors of the
   * host's own functions; they are always objects. Safe to call concurrently.
   */
  handle(request: FlagsRequest<Native>): Promise<FlagsReply | undefined>;
  /** The CORS headers of a request. Replies have them; a host that answers a request itself adds them to its response. */
  corsHeaders(request: FlagsRequest<Native>): Readonly<Record<string, string>>;
  /**
   * Ends all streams (`/api/client/streaming`) and refuses further ones with `closed`; every other request is answered as
   * before. Call it before you close the server, which waits for open connections. `flags.close()` ends the streams too.
   */
  close(): void;
}

/**
 * Creates the HTTP API of an engine: the admin API under `/api/admin`, server-side SDKs under `/api/client`, browser SDKs
 * under `/api/frontend`, and the OpenFeature Remote Evaluation Protocol under `/ofrep`.
 *
 * @param flags stays yours to close
 * @throws TypeError when `flags` is a promise or something else, or an option is not valid
 * @example
 * const api = createFlagsApi(flags, { auth: 'token' });
 * http.createServer(toNodeHandler(api)).listen(4242);
 */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags,
  options: FlagsApiOptions<A, Native>,
): FlagsApi<Native>;
/** The same with sessions and API tokens together. */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags,
  options: SessionApiOptions<A, Native>,
): FlagsApi<Native>;
/** For adapters: `caller` is the name of the function that error messages begin with. */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags,
  options: GateOptions<A, Native>,
  caller: string,
): FlagsApi<Native>;
export function createFlagsApi<A extends Actor, Native>(
  flags: Flags,
  options: GateOptions<A, Native>,
  caller = 'createFlagsApi',
): FlagsApi<Native> {
  const fault = describeNonFlags(flags);
  if (fault) throw new TypeError(`${caller} ${fault}`);
  assertOptions(options, caller);
  const { onError = () => undefined } = options;
  const parts = createParts(flags, options);
  const findRoutes = createRouteLookup(ROUTES);
  const cors = options.cors && createCors(options.cors);
  const checkHost = options.auth === 'none' ? createHostCheck(options) : undefined;
  const dispatch = createDispatch<Native>({
    findRoutes,
    endpoints: new Map(ROUTES.map((route) => [route, createEndpoint(route, parts)])),
    gate: createGate(flags, options, caller),
    cors,
    checkHost,
  });

  /** The reply to a refused request. Throws what is not a refusal. */
  function refuse(error: unknown, request: FlagsRequest<Native>): Reply {
    const found = findRoutes(request.path).find(({ route }) => route.method === request.method);
    const reply = errorReply(error, { route: found?.route, params: decodeParams(request.path, found?.params ?? {}) });
    if (reply === undefined) throw error;
    if (reply.status >= 500 && isFlagsError(error)) onError(error, request.native);
    return reply;
  }

  function corsHeaders(request: FlagsRequest<Native>): Readonly<Record<string, string>> {
    if (cors === undefined) return {};
    try {
      checkHost?.(request);
    } catch {
      return {};
    }
    return cors(request)?.headers ?? {};
  }

  async function answer(request: FlagsRequest<Native>): Promise<Reply | undefined> {
    try {
      return await dispatch(request);
    } catch (error) {
      return refuse(error, request);
    }
  }

  return {
    isOwnPath: (path) => accessOf(path) !== undefined,
    corsHeaders,
    async handle(request) {
      try {
        const reply = await answer(request);
        if (reply === undefined) return undefined;
        // The head of a stream is out when it fails: only the host can still be told.
        const onLateError = (error: unknown) => {
          if (!isFlagsError(error)) throw toErrorObject(error);
          onError(error, request.native);
        };
        return toFlagsReply(reply, { request, headers: corsHeaders(request), onLateError });
      } catch (error) {
        throw toErrorObject(error);
      }
    },
    close: () => parts.hub.close(),
  };
}

/** Express takes some thrown values for signals of its own (undefined, `'router'`): hosts get objects only. */
function toErrorObject(error: unknown): object {
  if (error instanceof HostFault) return toErrorObject(error.thrown);
  return typeof error === 'object' && error !== null ? error : new Error(`Thrown: ${String(error)}`, { cause: error });
}

function createParts<A extends Actor, Native>(flags: Flags, options: GateOptions<A, Native>): EndpointParts {
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

function authModeOf(auth: string | object): AuthMode {
  if (typeof auth === 'function') return 'host';
  return typeof auth === 'object' ? 'session' : (auth as AuthMode);
}
