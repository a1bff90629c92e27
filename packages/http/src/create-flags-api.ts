import type { Flags } from '@flags/core';
import { eventToWire, inputSchemas } from '@flags/core/integration/http';
import { describeNonFlags } from '@flags/core/integration/shared';
import { createAdmission } from './api/admission.js';
import { createDocumentEncoder } from './api/answer.js';
import { createReplyCache } from './api/caching.js';
import { createApi, type FlagsApi } from './api/create-api.js';
import { createEndpoint, type EndpointParts, type EngineParts, type ServedRoute } from './api/endpoint.js';
import { type Actor, authModeOf, createAuthentication } from './auth/auth.js';
import { createCors, createHostCheck } from './auth/origin.js';
import { createUserLookup } from './auth/users.js';
import { createClientHub } from './client/client-hub.js';
import { createRefetchHub } from './client/refetch-hub.js';
import { createAddressFinder } from './client/stream-address.js';
import { createUnknownTokens } from './client/unknown-tokens.js';
import { createEventHub } from './events/event-hub.js';
import { ROUTER_LIMITS } from './limits.js';
import { createBodyReader } from './messages/request.js';
import { openApiDocument } from './openapi/openapi-document.js';
import {
  type ApiOptions,
  assertOptions,
  DEFAULT_HEARTBEAT_INTERVAL,
  type FlagsApiOptions,
  type SessionApiOptions,
} from './options.js';
import { ADMIN_ROUTES, GROUPS, SDK_ROUTES } from './routes.js';
import { type FlagsSource, isEngine, ticketsOf } from './source.js';

/**
 * Creates the HTTP API of an engine or a follower, independent of any framework.
 *
 * It serves the admin API under `/api/admin` and server-side SDKs under `/api/client`. It serves browser SDKs under
 * `/api/frontend` and the OpenFeature Remote Evaluation Protocol under `/ofrep`. `/edge/validate` finds the tokens of callers
 * for servers that stand between SDKs and this one. A follower has no admin API.
 *
 * @param flags The flags to serve, or a follower. You close them; the API does not.
 * @param options `auth` is required; every other option has a default.
 * @returns The API, to pass to `toNodeHandler`, `toFetchHandler` or your own adapter.
 * @throws TypeError when `flags` is not the resolved value of `openFlags`, or when an option is invalid
 * @example
 * const api = createFlagsApi(flags, { auth: 'token' });
 * http.createServer(toNodeHandler(api)).listen(4242);
 */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags | FlagsSource,
  options: FlagsApiOptions<A, Native>,
): FlagsApi<Native>;
/** Creates an API that accepts both sessions and API tokens. */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags | FlagsSource,
  options: SessionApiOptions<A, Native>,
): FlagsApi<Native>;
/** For adapters: error messages begin with `caller`, the name of the calling function. */
export function createFlagsApi<A extends Actor = Actor, Native = unknown>(
  flags: Flags | FlagsSource,
  options: ApiOptions<A, Native>,
  caller: string,
): FlagsApi<Native>;
export function createFlagsApi<A extends Actor, Native>(
  source: Flags | FlagsSource,
  options: ApiOptions<A, Native>,
  caller = 'createFlagsApi',
): FlagsApi<Native> {
  const fault = describeNonFlags(source);
  if (fault) throw new TypeError(`${caller} ${fault}`);
  assertOptions(options, caller);
  const parts = createParts(source, options);
  const engine = isEngine(source) ? createEngineParts(source, options, parts) : undefined;
  const served: readonly ServedRoute[] = [
    ...(engine ? ADMIN_ROUTES.map((route) => ({ route, engine })) : []),
    ...SDK_ROUTES.map((route) => ({ route })),
  ];
  return createApi({
    endpoints: new Map(served.map((one) => [one.route, createEndpoint(one, parts)])),
    authenticate: createAuthentication<A, Native>({ source, verifyTicket: ticketsOf(source)?.verify }, options, caller),
    cors: options.cors && createCors(options.cors),
    checkHost: options.auth === 'none' ? createHostCheck(options) : undefined,
    following: isEngine(source) ? undefined : source.following,
    onError: options.onError ?? (() => undefined),
    close() {
      parts.services.hub.close();
      parts.services.refetchHub.close();
      engine?.services.eventHub.close();
    },
  });
}

/** Creates the shared state of the endpoints. */
function createParts<A extends Actor, Native>(source: FlagsSource, options: ApiOptions<A, Native>): EndpointParts {
  const { auth, bodyLimit = ROUTER_LIMITS.body, heartbeatInterval = DEFAULT_HEARTBEAT_INTERVAL } = options;
  const { ofrepStreams = true } = options;
  const admission = createAdmission();
  return {
    source,
    inputs: inputSchemas(source.settings),
    services: {
      hub: createClientHub(source, heartbeatInterval),
      refetchHub: createRefetchHub(source, heartbeatInterval),
      findAddresses: ofrepStreams
        ? createAddressFinder({ auth: authModeOf(auth), tickets: ticketsOf(source) })
        : async () => undefined,
      unknownTokens: createUnknownTokens(),
    },
    readBody: createBodyReader(bodyLimit),
    admission,
    encodeDocument: createDocumentEncoder(admission),
    replies: createReplyCache(),
  };
}

/** Creates what only the routes of an engine share. */
function createEngineParts<A extends Actor, Native>(
  flags: Flags,
  options: ApiOptions<A, Native>,
  { inputs, services }: EndpointParts,
): EngineParts {
  const auth = authModeOf(options.auth);
  const { heartbeatInterval = DEFAULT_HEARTBEAT_INTERVAL } = options;
  return {
    flags,
    services: {
      ...services,
      auth,
      openApi: () => openApiDocument({ groups: GROUPS, schemas: inputs, settings: flags.settings, auth }),
      eventHub: createEventHub(flags, { heartbeatInterval, toWire: eventToWire }),
    },
    describeUsers: describeUsersFor(options),
  };
}

function describeUsersFor<A extends Actor, Native>({
  describeUsers,
  onError = () => undefined,
}: ApiOptions<A, Native>): EngineParts['describeUsers'] {
  if (describeUsers === undefined) return undefined;
  return (request) => createUserLookup(describeUsers, (error) => onError(error, request.native as Native));
}
