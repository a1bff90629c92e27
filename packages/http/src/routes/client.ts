import { FlagsError } from '@flags/core';
import type { ReportOrigin } from '@flags/core/types';
import { type Route, type RouteRequest, route } from '../api/route.js';
import {
  CLIENT_SPEC_HEADER,
  type ClientRequest,
  clientFeature,
  clientFeatures,
  clientQueryOf,
  segmentFormFor,
} from '../client/document.js';
import { headerOf, unchecked } from '../messages/request.js';
import {
  bulkSchema,
  refusalToWire,
  registrationFromWire,
  registrationSchema,
  registrationsFromWire,
  reportFromWire,
  reportSchema,
  reportsFromWire,
  type WireBulk,
  type WireRegistration,
  type WireReport,
} from '../wire/client.js';
import { overrideSchema, payloadSchema } from '../wire/flag.js';
import {
  boolean,
  component,
  example,
  listOf,
  mapOf,
  objectComponent,
  positiveInteger,
  strategyName,
  strictObject,
  text,
  variantName,
} from '../wire/schema.js';
import { CLIENT, ENVIRONMENT_PARAMETER, FRONTEND, VIEW_PARAMETERS } from './paths.js';

const clientConstraintSchema = objectComponent(
  'ClientConstraint',
  { contextName: text, operator: text, values: listOf(text), inverted: boolean, caseInsensitive: boolean },
  { value: text },
);

const variant = { name: variantName, weight: { type: 'number', minimum: 0 }, stickiness: text };

const clientVariantSchema = objectComponent(
  'ClientVariant',
  { ...variant, overrides: listOf(overrideSchema) },
  { payload: payloadSchema },
);

const clientStrategyVariantSchema = objectComponent('ClientStrategyVariant', variant, { payload: payloadSchema });

const clientDependencySchema = objectComponent(
  'ClientDependency',
  { feature: text, enabled: boolean },
  { variants: listOf(text) },
);

const clientSegmentSchema = objectComponent('ClientSegment', {
  id: positiveInteger,
  name: example('beta'),
  constraints: listOf(clientConstraintSchema),
});

const clientStrategySchema = objectComponent(
  'ClientStrategy',
  {
    name: strategyName,
    parameters: {
      ...example({ rollout: '25', groupId: 'checkout', stickiness: 'default' }, mapOf(text)),
      description: 'The parameters; all values are text.',
    },
    constraints: listOf(clientConstraintSchema),
  },
  { segments: example([1], listOf(positiveInteger)), variants: listOf(clientStrategyVariantSchema) },
);

const clientFeatureSchema = objectComponent(
  'ClientFeature',
  {
    name: text,
    type: text,
    project: text,
    enabled: { ...boolean, description: 'Whether the flag is enabled in the environment.' },
    stale: boolean,
    impressionData: boolean,
    strategies: { ...listOf(clientStrategySchema), description: 'The strategies that are not disabled.' },
    variants: listOf(clientVariantSchema),
  },
  { description: text, dependencies: listOf(clientDependencySchema) },
);

const clientFeaturesSchema = objectComponent(
  'ClientFeatures',
  {
    version: { type: 'integer', const: 2 },
    features: listOf(clientFeatureSchema),
    query: strictObject(
      { environment: text },
      {
        project: listOf(text),
        namePrefix: text,
        tag: { ...example([['simple', 'team-shop']], listOf(listOf(text))), description: 'Pairs of type and value.' },
      },
    ),
  },
  {
    segments: {
      ...example([{ id: 1, name: 'beta', constraints: [] }], listOf(clientSegmentSchema)),
      description: 'The segments that the flags use. Absent for clients that do not support segments.',
    },
  },
);

const featureStreamSchema = component('FeatureStream', {
  type: 'string',
  description: [
    'Starts with `unleash-connected`, which has the event `hydration` (features, segments), unless it resumes. Each',
    'commit sends `unleash-updated` with the events `feature-updated` (feature), `feature-removed` (featureName,',
    'project), `segment-updated` (segment) and `segment-removed` (segmentId). The data is JSON: { "events": [...] },',
    'where every event has `type` and `eventId`. Comments keep the connection alive.',
  ].join(' '),
  examples: [
    [
      'id:9f86d081884c7d65-1',
      'event:unleash-connected',
      'data:{"events":[{"type":"hydration","eventId":1,"features":[],"segments":[]}]}',
      '',
      'id:9f86d081884c7d65-2',
      'event:unleash-updated',
      'data:{"events":[{"type":"feature-removed","eventId":2,"featureName":"checkout","project":"default"}]}',
      '',
      '',
    ].join('\n'),
  ],
});

export const clientRoutes: readonly Route[] = [
  route('GET', `${CLIENT}/features`, 'listClientFlags', {
    summary: 'List the flags of an environment, for evaluation in server-side SDKs',
    query: VIEW_PARAMETERS,
    reply: clientFeaturesSchema,
    errors: ['environment_not_found'],
    vary: CLIENT_SPEC_HEADER,
    handle: async (request) => clientFeatures(request.flags, clientRequestOf(request)),
  }),
  route('GET', `${CLIENT}/features/:featureName`, 'getClientFlag', {
    summary: 'Get a flag, for evaluation in server-side SDKs',
    query: [ENVIRONMENT_PARAMETER],
    reply: clientFeatureSchema,
    errors: ['environment_not_found'],
    vary: CLIENT_SPEC_HEADER,
    async handle(request) {
      const { featureName } = request.params;
      const reply = clientFeature(request.flags, clientRequestOf(request), featureName);
      if (reply) return reply;
      throw new FlagsError('flag_not_found', `There is no flag ${featureName} for this client.`);
    },
  }),
  route('GET', `${CLIENT}/streaming`, 'streamClientFlags', {
    summary: 'Stream the flags of an environment and all later changes, as server-sent events',
    query: VIEW_PARAMETERS,
    reply: featureStreamSchema,
    media: 'text/event-stream',
    errors: ['environment_not_found'],
    async handle({ flags: { settings }, services: { hub }, principal, query, sent, isStillAdmitted }) {
      const { scope, hasValidToken, token } = principal;
      const asked = clientQueryOf({ scope, query, settings });
      return {
        stream: hub.prepare({
          asked,
          lastEventId: headerOf(sent, 'last-event-id'),
          isStillAdmitted,
          hasValidToken,
          tokenId: token?.id,
        }),
      };
    },
  }),
];

function clientRequestOf({ flags: { settings }, principal, query, sent }: RouteRequest): ClientRequest {
  const clientSpec = headerOf(sent, CLIENT_SPEC_HEADER.toLowerCase());
  return { asked: clientQueryOf({ scope: principal.scope, query, settings }), segments: segmentFormFor(clientSpec) };
}

export const clientReportRoutes: readonly Route[] = [
  route('POST', `${CLIENT}/register`, 'registerApplication', {
    summary: 'Register an application that has started',
    body: { schema: registrationSchema },
    status: 202,
    handle: (request) => register(request, 'client'),
  }),
  route('POST', `${CLIENT}/metrics`, 'reportMetrics', {
    summary: 'Report how often flags were evaluated',
    body: { schema: reportSchema },
    status: 202,
    handle: (request) => report(request, 'client'),
  }),
  route('POST', `${CLIENT}/metrics/bulk`, 'reportMetricsInBulk', {
    summary: 'Report the registrations and metrics that a proxy has collected from its clients',
    body: { schema: bulkSchema },
    status: 202,
    async handle(request) {
      const bulk = unchecked<WireBulk>(request.body);
      const reported = { registrations: registrationsFromWire(bulk), reports: reportsFromWire(bulk) };
      await record(request.flags.reportMetricsInBulk(reported, originOf(request, 'client')));
    },
  }),
];

export const frontendReportRoutes: readonly Route[] = [
  route('POST', `${FRONTEND}/client/register`, 'registerFrontend', {
    summary: 'Register a browser application that has started',
    body: { schema: registrationSchema },
    handle: (request) => register(request, 'frontend'),
  }),
  route('POST', `${FRONTEND}/client/metrics`, 'reportFrontendMetrics', {
    summary: 'Report how often flags were evaluated in a browser',
    body: { schema: reportSchema },
    handle: (request) => report(request, 'frontend'),
  }),
];

type ReportAccess = 'client' | 'frontend';

async function register(request: RouteRequest, access: ReportAccess): Promise<undefined> {
  const registration = registrationFromWire(unchecked<WireRegistration>(request.body));
  await record(request.flags.registerApplication(registration, reportOrigin(request, access)));
}

async function report(request: RouteRequest, access: ReportAccess): Promise<undefined> {
  const metrics = reportFromWire(unchecked<WireReport>(request.body));
  await record(request.flags.reportMetrics(metrics, reportOrigin(request, access)));
}

/** Resolves when usage is recorded. A refusal names the members of the wire. */
async function record(recording: Promise<void>): Promise<void> {
  try {
    await recording;
  } catch (error) {
    throw refusalToWire(error);
  }
}

function reportOrigin(request: RouteRequest, access: ReportAccess): ReportOrigin {
  const address = request.sent.ip();
  return { ...(address !== undefined && { clientIp: address }), ...originOf(request, access) };
}

/**
 * Counts only evaluations of flags in the projects and the environment of the token. Browsers without a token share
 * one limit of applications.
 */
function originOf({ principal: { scope, token } }: RouteRequest, access: ReportAccess): Omit<ReportOrigin, 'clientIp'> {
  const { projects, environment } = scope;
  const isPublic = access === 'frontend';
  return {
    ...(projects !== '*' && { projects }),
    environment,
    ...((isPublic || token) && { reporter: { token: token?.id ?? '', isPublic } }),
  };
}
