import { type Flags, isFlagsError } from '@flags/core';
import { describeNonFlags, inputSchemas } from '@flags/core/integration';
import { createGate, type GateOptions } from './auth.js';
import { createBodyReader } from './body.js';
import { createResponseCaches } from './caching.js';
import { createClientDocuments } from './client/documents.js';
import { accessOf, createDispatch, createRouteLookup, decodeParams } from './dispatch.js';
import { createEndpoint, type EndpointParts } from './endpoint.js';
import { errorReply, HostFault } from './errors.js';
import { openApiDocument } from './openapi/document.js';
import {
  type Actor,
  assertOptions,
  authModeOf,
  bodyLimitOf,
  type FlagsApiOptions,
  heartbeatIntervalOf,
  type SessionApiOptions,
} from './options.js';
import { createCors, createHostCheck } from './origin.js';
import { type FlagsReply, type Reply, type Serialized, serialized, toFlagsReply } from './reply.js';
import type { FlagsRequest } from './request.js';
import { ROUTES } from './routes/all-routes.js';
import { eventToWire } from './routes/events.js';
import { adminActionsOf } from './routes/session.js';
import { createEventHub } from './streaming/event-hub.js';
import { createHub } from './streaming/hub.js';
import { createUserDirectory } from './users.js';

/**
 * The HTTP API of an engine, independent of any framework. Adapters such as `toNodeHandler` and `toFetchHandler` call
 * it.
 */
export interface FlagsApi<Native = unknown> {
  /** Returns whether the API serves this path. All other paths belong to the host. */
  isOwnPath(path: string): boolean;
  /**
   * Returns the reply to a request, or undefined for paths that belong to the host. Rejects with defects and with
   * errors of host functions; every rejection is an object. Safe to call concurrently.
   */
  handle(request: FlagsRequest<Native>): Promise<FlagsReply | undefined>;
  /**
   * Returns the CORS headers of a request. Replies include them. A host that replies itself adds them to its response.
   */
  corsHeaders(request: FlagsRequest<Native>): Readonly<Record<string, string>>;
  /**
   * Ends all streams (`/api/client/streaming`, `/api/admin/event-stream`) and refuses new ones with `closed`.
   *
   * Other requests still get their replies. Call it before you close the server, which waits for open connections.
   * `flags.close()` also ends the streams. Repeated calls do nothing.
   */
  close(): void;
}

/**
 * Creates the HTTP API of an engine, independent of any framework.
 *
 * It serves the admin API under `/api/admin` and server-side SDKs under `/api/client`. It serves browser SDKs under
 * `/api/frontend` and the OpenFeature Remote Evaluation Protocol under `/ofrep`.
 *
 * @param flags The flags to serve. You close them; the API does not.
 * @param options `auth` is required; every other option has a default.
 * @returns The API, to pass to `toNodeHandler`, `toFetchHandler` or your own adapter.
 * @throws TypeError when `flags` is not the resolved value of `createFlags`, or when an option is invalid
 * @example
 * const api = createFlagsApi(flags, { auth: 'token' });
 * http.createServer(toNodeHandler(api)).listen(4242);
 */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags,
  options: FlagsApiOptions<A, Native>,
): FlagsApi<Native>;
/** Creates an API that accepts both sessions and API tokens. */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags,
  options: SessionApiOptions<A, Native>,
): FlagsApi<Native>;
/** For adapters: error messages begin with `caller`, the name of the calling function. */
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

  /** Converts a refusal to a reply. Rethrows every other error. */
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
    return cors(request, accessOf(request.path))?.headers ?? {};
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
        // The client already has the head of the stream, so only the host can handle the error.
        const onLateError = (error: unknown) => {
          if (!isFlagsError(error)) throw toErrorObject(error);
          onError(error, request.native);
        };
        return toFlagsReply(reply, { request, headers: corsHeaders(request), onLateError });
      } catch (error) {
        throw toErrorObject(error);
      }
    },
    close() {
      parts.hub.close();
      parts.eventHub.close();
    },
  };
}

/** Wraps values that are not objects. Express treats some thrown values (undefined, `'router'`) as its own signals. */
function toErrorObject(error: unknown): object {
  if (error instanceof HostFault) return toErrorObject(error.thrown);
  return typeof error === 'object' && error !== null ? error : new Error(`Thrown: ${String(error)}`, { cause: error });
}

function createParts<A extends Actor, Native>(flags: Flags, options: GateOptions<A, Native>): EndpointParts {
  const inputs = inputSchemas(flags.settings);
  const cacheFor = createResponseCaches();
  const auth = authModeOf(options.auth);
  const heartbeatInterval = heartbeatIntervalOf(options);
  let document: Serialized | undefined;
  return {
    flags,
    inputs,
    admin: { auth, actions: adminActionsOf(ROUTES) },
    readBody: createBodyReader(bodyLimitOf(options)),
    documents: createClientDocuments(flags, cacheFor('client')),
    replies: cacheFor('admin'),
    describeUsers: describeUsersFor(options),
    hub: createHub(flags, { heartbeatInterval, cache: cacheFor('stream') }),
    eventHub: createEventHub(flags, { heartbeatInterval, toWire: eventToWire }),
    openApi() {
      document ??= serialized(
        JSON.stringify(openApiDocument({ routes: ROUTES, schemas: inputs, settings: flags.settings, auth })),
      );
      return document;
    },
  };
}

function describeUsersFor<A extends Actor, Native>({
  describeUsers,
  onError = () => undefined,
}: GateOptions<A, Native>): EndpointParts['describeUsers'] {
  if (describeUsers === undefined) return undefined;
  const directory = createUserDirectory(describeUsers);
  return (ids, request) => directory.describe(ids, (error) => onError(error, request.native as Native));
}
