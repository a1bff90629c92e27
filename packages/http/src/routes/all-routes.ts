import type { Flags } from '@flags/core';
import { inputSchemas } from '@flags/core/integration';
import type { AuthOptions } from '../auth.js';
import { createBodyReader } from '../body.js';
import { createResponseCaches } from '../caching.js';
import { createClientDocuments } from '../client/client-document.js';
import { createEndpoint, type Endpoint, type EndpointParts } from '../endpoint.js';
import { createGate } from '../gate.js';
import { openApiDocument } from '../openapi/document.js';
import { type Actor, authModeOf, bodyLimitOf, heartbeatIntervalOf } from '../options.js';
import { type Serialized, serialized } from '../reply.js';
import type { Route } from '../route.js';
import { createEventHub } from '../streaming/event-hub.js';
import { createHub } from '../streaming/hub.js';
import { createUserDirectory } from '../users.js';
import { changeRoutes } from './changes.js';
import { clientReportRoutes, clientRoutes } from './client.js';
import { definitionRoutes } from './definitions.js';
import { dependencyRoutes } from './dependencies.js';
import { eventRoutes, eventToWire } from './events.js';
import { featureRoutes } from './features.js';
import { environmentRoutes, strategyRoutes, variantRoutes } from './flag-configuration.js';
import { archiveRoutes, flagRoutes } from './flags.js';
import { frontendRoutes } from './frontend.js';
import { historyRoutes } from './history.js';
import { memberRoutes } from './members.js';
import { metricsRoutes } from './metrics.js';
import { ofrepRoutes } from './ofrep.js';
import { playgroundRoutes } from './playground.js';
import { projectRoutes } from './projects.js';
import { segmentRoutes } from './segments.js';
import { adminActionsOf, openApiRoutes, sessionRoutes } from './session.js';
import { tagRoutes } from './tags.js';
import { tokenRoutes } from './tokens.js';
import { usageRoutes } from './usage.js';

/** All routes of the API. */
export const ROUTES: readonly Route[] = [
  ...projectRoutes,
  ...flagRoutes,
  ...featureRoutes,
  ...tagRoutes,
  ...strategyRoutes,
  ...environmentRoutes,
  ...variantRoutes,
  ...dependencyRoutes,
  ...segmentRoutes,
  ...memberRoutes,
  ...archiveRoutes,
  ...metricsRoutes,
  ...usageRoutes,
  ...eventRoutes,
  ...tokenRoutes,
  ...playgroundRoutes,
  ...clientRoutes,
  ...clientReportRoutes,
  ...frontendRoutes,
  ...ofrepRoutes,
  ...changeRoutes,
  ...historyRoutes,
  ...definitionRoutes,
  ...sessionRoutes,
  ...openApiRoutes,
];

interface Endpoints {
  readonly endpoints: ReadonlyMap<Route, Endpoint>;
  /** Ends all streams, and refuses new ones. */
  close(): void;
}

/** Creates the endpoints of all routes, and what they share. */
export function createEndpoints<A extends Actor, Native>(flags: Flags, options: AuthOptions<A, Native>): Endpoints {
  const parts = createParts(flags, options);
  return {
    endpoints: new Map(ROUTES.map((route) => [route, createEndpoint(route, parts)])),
    close() {
      parts.hub.close();
      parts.eventHub.close();
    },
  };
}

function createParts<A extends Actor, Native>(flags: Flags, options: AuthOptions<A, Native>): EndpointParts {
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
    gate: createGate(),
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
}: AuthOptions<A, Native>): EndpointParts['describeUsers'] {
  if (describeUsers === undefined) return undefined;
  const directory = createUserDirectory(describeUsers);
  return (ids, request) => directory.describe(ids, (error) => onError(error, request.native as Native));
}
