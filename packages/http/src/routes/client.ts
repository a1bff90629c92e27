import { type ClientRegistration, FlagsError, type MetricsReport, type ReportOrigin } from '@flags/core';
import { unchecked } from '../body.js';
import { CLIENT_SPEC_HEADER, type ClientRequest, clientQueryOf, segmentFormFor } from '../client/client-document.js';
import { type Route, type RouteBody, type RouteRequest, type RouteResult, route } from '../route.js';
import {
  bulkSchema,
  clientReportFromWire,
  clientReportSchema,
  registrationsFromWire,
  reportsFromWire,
  type WireBulk,
} from '../wire/client.js';
import { CLIENT, ENVIRONMENT_PARAMETER, FRONTEND, VIEW_PARAMETERS } from './paths.js';

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
      const asked = clientQueryOf({ scope, query, settings });
      return { stream: hub.prepare({ asked, lastEventId, isStillAdmitted, hasValidToken, tokenId }) };
    },
  }),
];

function clientRequestOf({ flags: { settings }, scope, query, clientSpec }: RouteRequest): ClientRequest {
  return { asked: clientQueryOf({ scope, query, settings }), segments: segmentFormFor(clientSpec) };
}

const REGISTRATION: RouteBody = {
  required: true,
  schema: ({ registration }) => clientReportSchema(registration),
  checkedBy: 'core',
};
const REPORT: RouteBody = {
  required: true,
  schema: ({ metricsReport }) => clientReportSchema(metricsReport),
  checkedBy: 'core',
};

/** Registrations and metrics from server-side and browser SDKs. */
export const clientReportRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: `${CLIENT}/register`,
    action: 'registerApplication',
    summary: 'Tell that a client has started',
    tag: 'Client',
    access: 'client',
    body: REGISTRATION,
    reply: { status: 202 },
    errors: ['invalid_input'],
    handle: (request) => register(request, 'client'),
  }),
  route({
    method: 'POST',
    path: `${CLIENT}/metrics`,
    action: 'reportMetrics',
    summary: 'Report how often flags were evaluated',
    tag: 'Client',
    access: 'client',
    body: REPORT,
    reply: { status: 202 },
    errors: ['invalid_input'],
    handle: (request) => report(request, 'client'),
  }),
  route({
    method: 'POST',
    path: `${CLIENT}/metrics/bulk`,
    action: 'reportMetricsInBulk',
    summary: 'Report what many clients have told a proxy',
    tag: 'Client',
    access: 'client',
    body: { required: true, schema: bulkSchema, checkedBy: 'router' },
    reply: { status: 202 },
    errors: ['invalid_input'],
    async handle(request) {
      const bulk = unchecked<WireBulk>(request.body);
      const registrations = registrationsFromWire(bulk, new Date());
      const origin = originOf(request, 'client');
      await request.flags.reportMetricsInBulk({ registrations, reports: reportsFromWire(bulk) }, origin);
      return {};
    },
  }),
  route({
    method: 'POST',
    path: `${FRONTEND}/client/register`,
    action: 'registerFrontend',
    summary: 'Tell that a browser client has started',
    tag: 'Frontend',
    access: 'frontend',
    body: REGISTRATION,
    reply: { status: 200 },
    errors: ['invalid_input'],
    handle: (request) => register(request, 'frontend'),
  }),
  route({
    method: 'POST',
    path: `${FRONTEND}/client/metrics`,
    action: 'reportFrontendMetrics',
    summary: 'Report how often flags were asked for in a browser',
    tag: 'Frontend',
    access: 'frontend',
    body: REPORT,
    reply: { status: 200 },
    errors: ['invalid_input'],
    handle: (request) => report(request, 'frontend'),
  }),
];

type ReportAccess = 'client' | 'frontend';

async function register(request: RouteRequest, access: ReportAccess): Promise<RouteResult> {
  const registration = clientReportFromWire(unchecked<ClientRegistration>(request.body));
  await request.flags.registerApplication(registration, reportOrigin(request, access));
  return {};
}

async function report(request: RouteRequest, access: ReportAccess): Promise<RouteResult> {
  const metrics = clientReportFromWire(unchecked<MetricsReport>(request.body));
  await request.flags.reportMetrics(metrics, reportOrigin(request, access));
  return {};
}

function reportOrigin(request: RouteRequest, access: ReportAccess): ReportOrigin {
  const address = request.clientIp();
  return { ...(address !== undefined && { clientIp: address }), ...originOf(request, access) };
}

/**
 * A token counts only evaluations of flags in its own projects, and in its own environment. Browsers without a token share
 * one bound of applications.
 */
function originOf({ scope, tokenId }: RouteRequest, access: ReportAccess): Omit<ReportOrigin, 'clientIp'> {
  const { projects, environment } = scope;
  const isPublic = access === 'frontend';
  return {
    ...(projects !== '*' && { projects }),
    environment,
    ...((isPublic || tokenId !== undefined) && { reporter: { token: tokenId ?? '', isPublic } }),
  };
}
