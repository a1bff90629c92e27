import type { Flags } from '@flags/core';
import { describeNonFlags, inputSchemas } from '@flags/core/integration';
import { createBodyReader } from './api/body.js';
import { createBodyRoom } from './api/body-room.js';
import { createResponseCache } from './api/caching.js';
import { createApi, type FlagsApi } from './api/create-api.js';
import { createEndpoint, type EndpointParts } from './api/endpoint.js';
import { createGate } from './api/gate.js';
import { type Actor, authModeOf, createAuthentication } from './auth/auth.js';
import { createCors, createHostCheck } from './auth/origin.js';
import { createUserLookup } from './auth/users.js';
import { createHub } from './client/hub.js';
import { createEventHub } from './events/hub.js';
import { openApiDocument } from './openapi/document.js';
import {
  type ApiOptions,
  assertOptions,
  DEFAULT_BODY_LIMIT,
  DEFAULT_HEARTBEAT_INTERVAL,
  type FlagsApiOptions,
  type SessionApiOptions,
} from './options.js';
import { GROUPS, ROUTES } from './routes/all-routes.js';
import { adminActionsOf } from './routes/session.js';
import { eventToWire } from './wire/event.js';

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
  options: ApiOptions<A, Native>,
  caller: string,
): FlagsApi<Native>;
export function createFlagsApi<A extends Actor, Native>(
  flags: Flags,
  options: ApiOptions<A, Native>,
  caller = 'createFlagsApi',
): FlagsApi<Native> {
  const fault = describeNonFlags(flags);
  if (fault) throw new TypeError(`${caller} ${fault}`);
  assertOptions(options, caller);
  const parts = createParts(flags, options);
  const { hub, eventHub } = parts.services;
  return createApi({
    endpoints: new Map(ROUTES.map((route) => [route, createEndpoint(route, parts)])),
    authenticate: createAuthentication<A, Native>(flags, options, caller),
    cors: options.cors && createCors(options.cors),
    checkHost: options.auth === 'none' ? createHostCheck(options) : undefined,
    onError: options.onError ?? (() => undefined),
    close() {
      hub.close();
      eventHub.close();
    },
  });
}

/** Creates the shared state of the endpoints. */
function createParts<A extends Actor, Native>(flags: Flags, options: ApiOptions<A, Native>): EndpointParts {
  const inputs = inputSchemas(flags.settings);
  const auth = authModeOf(options.auth);
  const { bodyLimit = DEFAULT_BODY_LIMIT, heartbeatInterval = DEFAULT_HEARTBEAT_INTERVAL } = options;
  return {
    flags,
    inputs,
    services: {
      admin: { auth, actions: adminActionsOf(ROUTES) },
      openApi: () => openApiDocument({ groups: GROUPS, schemas: inputs, settings: flags.settings, auth }),
      hub: createHub(flags, heartbeatInterval),
      eventHub: createEventHub(flags, { heartbeatInterval, toWire: eventToWire }),
    },
    readBody: createBodyReader(bodyLimit),
    gate: createGate(),
    bodies: createBodyRoom(),
    replies: createResponseCache(),
    describeUsers: describeUsersFor(options),
  };
}

function describeUsersFor<A extends Actor, Native>({
  describeUsers,
  onError = () => undefined,
}: ApiOptions<A, Native>): EndpointParts['describeUsers'] {
  if (describeUsers === undefined) return undefined;
  return (request) => createUserLookup(describeUsers, (error) => onError(error, request.native as Native));
}
