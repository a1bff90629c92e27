import { FlagsError } from '@flags/core';
import type { ClientRequest } from '../client/documents.js';
import { CLIENT_SPEC_HEADER, segmentFormFor, viewOf } from '../client/view.js';
import { type Route, type RouteRequest, route } from '../route.js';
import { CLIENT, ENVIRONMENT_PARAMETER, VIEW_PARAMETERS } from './paths.js';

export const clientRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: `${CLIENT}/features`,
    action: 'listClientFlags',
    summary: 'The flags of an environment, as server-side SDKs evaluate them',
    tag: 'Client',
    access: 'client',
    query: VIEW_PARAMETERS,
    reply: { status: 200, schema: 'ClientFeatures' },
    errors: ['invalid_input', 'environment_not_found'],
    vary: CLIENT_SPEC_HEADER,
    handle: (request) => request.documents.features(clientRequestOf(request)),
  }),
  route({
    method: 'GET',
    path: `${CLIENT}/features/:featureName`,
    action: 'getClientFlag',
    summary: 'One flag, as server-side SDKs evaluate it',
    tag: 'Client',
    access: 'client',
    query: [ENVIRONMENT_PARAMETER],
    reply: { status: 200, schema: 'ClientFeature' },
    errors: ['invalid_input', 'environment_not_found', 'flag_not_found'],
    vary: CLIENT_SPEC_HEADER,
    async handle(request) {
      const { featureName } = request.params;
      const found = await request.documents.feature(clientRequestOf(request), featureName);
      if (!found) throw new FlagsError('flag_not_found', `There is no flag ${featureName} for this client.`);
      return found;
    },
  }),
  route({
    method: 'GET',
    path: `${CLIENT}/streaming`,
    action: 'streamClientFlags',
    summary: 'The flags of an environment, and every change of them from then on, as server-sent events',
    tag: 'Client',
    access: 'client',
    query: VIEW_PARAMETERS,
    reply: { status: 200, schema: 'FeatureStream', media: 'text/event-stream' },
    errors: ['invalid_input', 'environment_not_found'],
    async handle({ flags: { settings }, hub, scope, query, lastEventId, ...caller }) {
      const { isStillAdmitted, hasValidToken, tokenId } = caller;
      const view = viewOf({ scope, query, settings });
      return { stream: await hub.prepare({ view, lastEventId, isStillAdmitted, hasValidToken, tokenId }) };
    },
  }),
];

function clientRequestOf({ flags: { settings }, scope, query, clientSpec }: RouteRequest): ClientRequest {
  return { view: viewOf({ scope, query, settings }), segments: segmentFormFor(clientSpec) };
}
