import { FlagsError, LIMITS, type Token } from '@flags/core';
import type { ReportOrigin, VerifiedToken } from '@flags/core/types';
import { CLIENT, ENVIRONMENT_PARAMETER, FRONTEND, VIEW_PARAMETERS } from '../../api/paths.js';
import { ID_HEADER, type SdkRequest, sdkRoute } from '../../api/route.js';
import type { Scope } from '../../auth/permissions.js';
import {
  CLIENT_SPEC_HEADER,
  type ClientRequest,
  clientFeature,
  clientFeatures,
  clientQueryOf,
  segmentFormFor,
} from '../../client/client-document.js';
import { invalidInput } from '../../messages/errors.js';
import { addressOf, headerOf, unchecked } from '../../messages/request.js';
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
} from '../../messages/schema.js';
import { overrideSchema, payloadSchema } from '../flags/wire.js';
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
} from './wire.js';

/*
 * The routes of SDKs: flags for evaluation, registrations and metrics; and the check of tokens for proxies.
 */

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

export const clientRoutes = [
  sdkRoute('GET', `${CLIENT}/features`, 'listClientFlags', {
    summary: 'List the flags of an environment, for evaluation in server-side SDKs',
    query: VIEW_PARAMETERS,
    reply: clientFeaturesSchema,
    errors: ['environment_not_found'],
    form: { vary: CLIENT_SPEC_HEADER },
    handle: async (request) => ({ document: clientFeatures(request.source, clientRequestOf(request)) }),
  }),
  sdkRoute('GET', `${CLIENT}/features/:featureName`, 'getClientFlag', {
    summary: 'Get a flag, for evaluation in server-side SDKs',
    query: [ENVIRONMENT_PARAMETER],
    reply: clientFeatureSchema,
    errors: ['environment_not_found'],
    form: { vary: CLIENT_SPEC_HEADER },
    async handle(request) {
      const { featureName } = request.params;
      const document = clientFeature(request.source, clientRequestOf(request), featureName);
      if (document) return { document };
      throw new FlagsError('flag_not_found', `There is no flag ${featureName} for this client.`);
    },
  }),
  sdkRoute('GET', `${CLIENT}/streaming`, 'streamClientFlags', {
    summary: 'Stream the flags of an environment and all later changes, as server-sent events',
    query: VIEW_PARAMETERS,
    reply: featureStreamSchema,
    form: { media: ['text/event-stream'] },
    errors: ['environment_not_found'],
    async handle({ source, services: { hub }, principal, query, sent, isStillAdmitted }) {
      const { scope, hasValidToken, token } = principal;
      const asked = clientQueryOf({ scope, query, source });
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

function clientRequestOf({ source, principal, query, sent }: SdkRequest): ClientRequest {
  const clientSpec = headerOf(sent, CLIENT_SPEC_HEADER.toLowerCase());
  return { asked: clientQueryOf({ scope: principal.scope, query, source }), segments: segmentFormFor(clientSpec) };
}

export const clientReportRoutes = [
  sdkRoute('POST', `${CLIENT}/register`, 'registerApplication', {
    summary: 'Register an application that has started',
    body: { schema: registrationSchema },
    status: 202,
    handle: (request) => register(request, 'client'),
  }),
  sdkRoute('POST', `${CLIENT}/metrics`, 'reportMetrics', {
    summary: 'Report how often flags were evaluated',
    body: { schema: reportSchema },
    status: 202,
    handle: (request) => report(request, 'client'),
  }),
  sdkRoute('POST', `${CLIENT}/metrics/bulk`, 'reportMetricsInBulk', {
    summary: 'Report the registrations and metrics that a proxy has collected from its clients',
    body: { schema: bulkSchema },
    status: 202,
    async handle(request) {
      const bulk = unchecked<WireBulk>(request.body);
      const reported = { registrations: registrationsFromWire(bulk), reports: reportsFromWire(bulk) };
      const id = batchIdOf(request);
      const origin = { ...originOf(request, 'client'), ...(id !== undefined && { id }) };
      await record(request.source.reportMetricsInBulk(reported, origin));
    },
  }),
];

/** @throws FlagsError `invalid_input` */
function batchIdOf({ sent }: SdkRequest): string | undefined {
  const id = headerOf(sent, ID_HEADER.toLowerCase());
  if (id === undefined || (id !== '' && id.length <= LIMITS.batchId)) return id;
  throw invalidInput([{ message: `${ID_HEADER} must have 1 to ${LIMITS.batchId} characters`, path: '' }]);
}

const verifiedTokenSchema = objectComponent(
  'VerifiedToken',
  {
    token: { ...example('default:production.your-secret'), description: 'The secret.' },
    type: { type: 'string', enum: ['client', 'frontend'] },
    projects: listOf(text),
    environment: example('production'),
  },
  { expiresAt: { type: 'string', format: 'date-time', description: 'Absent if the token does not expire.' } },
);

/** For proxies between SDKs and this server: they check the tokens of their callers here. */
export const edgeRoutes = [
  sdkRoute('POST', '/edge/validate', 'verifyTokens', {
    summary: 'Find the valid tokens among the secrets that callers have sent to a server of yours',
    body: {
      schema: strictObject({
        tokens: {
          ...example(['default:production.your-secret']),
          ...listOf({ type: 'string', minLength: 1, maxLength: LIMITS.secret }),
          maxItems: LIMITS.tokensPerVerification,
        },
      }),
    },
    reply: objectComponent('VerifiedTokens', {
      tokens: {
        ...listOf(verifiedTokenSchema),
        description: 'The tokens of kind client and frontend within the scope of the caller.',
      },
    }),
    form: { isSecret: true },
    async handle({ source, services: { unknownTokens }, principal, body }) {
      const secrets = [...new Set(unchecked<{ readonly tokens: readonly string[] }>(body).tokens)];
      const verified = await source.verifyTokens(secrets);
      if (verified.length < secrets.length) unknownTokens.admit(principal.token?.id ?? '');
      const visible = verified.filter(({ token }) => isWithin(principal.scope, token));
      return { body: { tokens: visible.map(verifiedTokenToWire) } };
    },
  }),
];

function isWithin(scope: Scope, { projects, environment }: Token): boolean {
  const isOfScope = scope.environment === '*' || scope.environment === environment;
  return isOfScope && (scope.projects === '*' || projects.every((project) => scope.projects.includes(project)));
}

function verifiedTokenToWire({ secret, token: { kind, projects, environment, expiresAt } }: VerifiedToken) {
  return { token: secret, type: kind, projects, environment, ...(expiresAt !== null && { expiresAt }) };
}

export const frontendReportRoutes = [
  sdkRoute('POST', `${FRONTEND}/client/register`, 'registerFrontend', {
    summary: 'Register a browser application that has started',
    body: { schema: registrationSchema },
    handle: (request) => register(request, 'frontend'),
  }),
  sdkRoute('POST', `${FRONTEND}/client/metrics`, 'reportFrontendMetrics', {
    summary: 'Report how often flags were evaluated in a browser',
    body: { schema: reportSchema },
    handle: (request) => report(request, 'frontend'),
  }),
];

type ReportAccess = 'client' | 'frontend';

async function register(request: SdkRequest, access: ReportAccess): Promise<undefined> {
  const registration = registrationFromWire(unchecked<WireRegistration>(request.body));
  await record(request.source.registerApplication(registration, reportOrigin(request, access)));
}

async function report(request: SdkRequest, access: ReportAccess): Promise<undefined> {
  const metrics = reportFromWire(unchecked<WireReport>(request.body));
  await record(request.source.reportMetrics(metrics, reportOrigin(request, access)));
}

/** Resolves when usage is recorded. A refusal names the members of the wire. */
async function record(recording: Promise<void>): Promise<void> {
  try {
    await recording;
  } catch (error) {
    throw refusalToWire(error);
  }
}

function reportOrigin(request: SdkRequest, access: ReportAccess): ReportOrigin {
  const address = addressOf(request.sent);
  return { ...(address !== undefined && { clientIp: address }), ...originOf(request, access) };
}

/**
 * Counts only evaluations of flags in the projects and the environment of the token. Browsers without a token share
 * one limit of applications.
 */
function originOf({ principal: { scope, token } }: SdkRequest, access: ReportAccess): Omit<ReportOrigin, 'clientIp'> {
  const { projects, environment } = scope;
  const isPublic = access === 'frontend';
  return {
    ...(projects !== '*' && { projects }),
    environment,
    ...((isPublic || token) && { reporter: { token: token?.id ?? '', isPublic } }),
  };
}
