import { FlagsError, LIMITS, type TokenKind } from '@flags/core';
import {
  createPacedResolution,
  findFlag,
  type OpenFeatureContext,
  payloadValue,
  type ResolutionMetadata,
} from '@flags/core/integration/http';
import { type FlagResolution, type JsonSchema, pause, resolveVariant } from '@flags/core/integration/shared';
import { ENVIRONMENT_PARAMETER, OFREP_FLAGS, OFREP_STREAM } from '../../api/paths.js';
import { parameter } from '../../api/query.js';
import { type SdkRequest, sdkRoute } from '../../api/route.js';
import { TICKET_PARAMETER } from '../../auth/auth.js';
import { type ClientQuery, clientQueryOf, isSelected, selectedNames } from '../../client/client-document.js';
import { HttpError, ofrepFailure } from '../../messages/errors.js';
import { jsonArray } from '../../messages/json.js';
import { unchecked } from '../../messages/request.js';
import { boolean, component, example, listOf, objectComponent, strictObject, text } from '../../messages/schema.js';
import { ofrepFailureSchema } from './wire.js';

const METADATA_EXAMPLE = {
  project: 'default',
  type: 'release',
  enabled: true,
  stale: false,
  impressionData: false,
  flagSetId: 'default/production',
  version: '0f1e2d3c4b5a',
};

const ofrepEvaluationSchema = objectComponent(
  'OfrepEvaluation',
  {
    key: { type: 'string', description: 'The name of the flag.' },
    reason: example('SPLIT', {
      type: 'string',
      enum: ['STATIC', 'TARGETING_MATCH', 'SPLIT', 'DISABLED', 'UNKNOWN'],
    }),
  },
  {
    value: {
      type: ['boolean', 'string', 'number', 'object', 'array'],
      examples: ['#00f'],
      description:
        'The payload of the variant; without one, whether the flag is on. Absent if the flag is off and has payloads: use your default.',
    },
    variant: text,
    metadata: {
      ...strictObject(
        {
          project: text,
          type: text,
          enabled: { ...boolean, description: 'Whether the flag is on, even if the value is a payload.' },
          stale: boolean,
          impressionData: boolean,
          flagSetId: { ...text, description: 'The project and the environment: `PROJECT/ENVIRONMENT`.' },
        },
        {
          version: {
            ...text,
            description:
              'A hash of the configuration of the flag, its segments and parents. Absent for frontend tokens.',
          },
        },
      ),
      examples: [METADATA_EXAMPLE],
      description: 'Metadata of the flag. Absent for frontend tokens if the flag is off.',
    },
  },
);

const ofrepEventStreamSchema = objectComponent('OfrepEventStream', {
  type: { type: 'string', const: 'sse' },
  endpoint: strictObject(
    { requestUri: { type: 'string', examples: ['/ofrep/v1/event-stream'] } },
    { origin: { ...text, description: 'Present for pages of the same origin. Default: the origin of the `baseUrl`.' } },
  ),
  inactivityDelaySec: { type: 'integer', description: 'Seconds after which a hidden page closes the stream.' },
});

const refetchStreamSchema = component('RefetchStream', {
  type: 'string',
  description: [
    'Events of the type `message`, whose data is JSON: `type` is `refetchEvaluation`, and `etag` names the node. The first',
    'one comes within a second. The others follow changes of the environment, at most about one per second. Comments keep',
    'the connection alive.',
  ].join(' '),
  examples: ['event:message\ndata:{"type":"refetchEvaluation","etag":"0f1e2d3c"}\n\n'],
});

/** The request body of the OpenFeature Remote Evaluation Protocol. */
const ofrepRequestSchema: JsonSchema = {
  type: 'object',
  properties: {
    context: {
      type: 'object',
      properties: { targetingKey: { type: 'string', description: 'The `userId` of the context, unless it has one.' } },
      maxProperties: LIMITS.contextProperties,
      description: 'The `targetingKey`, and all fields that strategies use.',
    },
  },
};

/**
 * Converts a resolution to the protocol. Its requests name no type, so the value is the variant's payload. Without a
 * payload, the value is whether the flag is enabled.
 *
 * @throws HttpError `invalid_json`, which is `PARSE_ERROR` there, for a payload without a value, such as the JSON `null`
 */
function resolutionToOfrep(resolution: FlagResolution, tokenKind: TokenKind | undefined) {
  if (!resolution.enabled) return offToOfrep(resolution, tokenKind);
  const { flag, reason, variant, metadata } = resolution;
  const value = variant?.payload ? payloadValue(variant.payload) : true;
  if (value === undefined) throw new HttpError('invalid_json', describeUnreadable(flag, variant));
  return {
    key: flag,
    value,
    reason,
    ...(variant && { variant: variant.name }),
    metadata: tokenKind === 'frontend' ? publicMetadata(metadata) : metadata,
  };
}

/** Without the version: frontend tokens are public, and the version is a hash that would confirm a guess. */
function publicMetadata({ version: _version, ...metadata }: ResolutionMetadata) {
  return metadata;
}

function describeUnreadable(flag: string, variant: FlagResolution['variant']): string {
  return `The payload of variant ${variant?.name} of flag ${flag} contains no value of type ${variant?.payload?.type}.`;
}

/** In the list of all flags, a payload without a value fails its own flag only. */
function listedToOfrep(resolution: FlagResolution, tokenKind: TokenKind | undefined) {
  try {
    return resolutionToOfrep(resolution, tokenKind);
  } catch (error) {
    if (error instanceof HttpError) return ofrepFailure(error, resolution.flag);
    throw error;
  }
}

/**
 * Converts the resolution of a flag that is off for the context. A caller that requests text or an object gets its own
 * default, because the reply has no value.
 *
 * @param tokenKind A frontend token is public: it gets no metadata. It still gets the flag, because clients use their
 * own default for a missing one.
 */
function offToOfrep({ flag, reason, withholdsPayload, metadata }: FlagResolution, tokenKind: TokenKind | undefined) {
  return {
    key: flag,
    ...(!withholdsPayload && { value: false }),
    reason,
    ...(tokenKind !== 'frontend' && { metadata }),
  };
}

/** The OpenFeature Remote Evaluation Protocol: single flags for server providers, all flags for browser providers. */
export const ofrepRoutes = [
  sdkRoute('POST', `${OFREP_FLAGS}/:key`, 'resolveFlag', {
    summary: 'Evaluate a flag for a context, for OpenFeature',
    query: [ENVIRONMENT_PARAMETER],
    body: { schema: ofrepRequestSchema, most: LIMITS.contextBytes },
    reply: ofrepEvaluationSchema,
    errors: ['environment_not_found'],
    form: { errors: 'ofrep' },
    async handle(request) {
      const { source, params, principal } = request;
      const asked = queryIn(request);
      const configured = findFlag(source.configuration(asked), params.key);
      const isVisible = configured !== undefined && isSelected(configured, asked);
      const resolution = isVisible ? resolveVariant(source, params.key, scopeOf(request, asked)) : undefined;
      if (!resolution) throw new FlagsError('flag_not_found', `There is no flag ${params.key} for this client.`);
      return { body: resolutionToOfrep(resolution, principal.token?.kind) };
    },
  }),
  sdkRoute('POST', OFREP_FLAGS, 'resolveFlags', {
    summary: 'Evaluate all flags for a context, for OpenFeature',
    query: [
      ENVIRONMENT_PARAMETER,
      parameter('flagConfigEtag', 'The `etag` of the event that has caused this request. The reply has its change.'),
    ],
    body: { schema: ofrepRequestSchema, most: LIMITS.contextBytes },
    reply: objectComponent(
      'OfrepEvaluations',
      { flags: listOf({ anyOf: [ofrepEvaluationSchema, ofrepFailureSchema] }) },
      { eventStreams: listOf(ofrepEventStreamSchema) },
    ),
    errors: ['environment_not_found'],
    form: { errors: 'ofrep', isConditional: true },
    long: { kind: 'evaluation' },
    async handle(request) {
      const { signal } = request.sent;
      await pause(signal);
      await catchUpWithEvent(request);
      const eventStreams = await request.services.findAddresses(request);
      const asked = queryIn(request);
      const names = selectedNames(request.source.configuration(asked), asked);
      const resolve = createPacedResolution(request.source, scopeOf(request, asked));
      const toWire = (one: FlagResolution) => listedToOfrep(one, request.principal.token?.kind);
      const pages = resolve({ names, isCounted: true, ...(signal && { signal }) });
      return { body: { flags: jsonArray(pages, toWire), eventStreams } };
    },
  }),
  sdkRoute('GET', OFREP_STREAM, 'streamRefetches', {
    summary: 'Stream events after which OpenFeature in a browser evaluates all flags again, as server-sent events',
    query: [
      parameter(TICKET_PARAMETER, 'In place of a token. Part of the address that a bulk evaluation names.'),
      ENVIRONMENT_PARAMETER,
    ],
    reply: refetchStreamSchema,
    form: { media: ['text/event-stream'] },
    errors: ['environment_not_found'],
    async handle({ source, services: { refetchHub }, principal, query, isStillAdmitted }) {
      const { scope, hasValidToken, token } = principal;
      const { environment } = clientQueryOf({ scope, query, source });
      const permission = { isStillAdmitted, hasValidToken, tokenId: token?.id };
      return { stream: refetchHub.prepare({ environment, ...permission }) };
    },
  }),
];

/** Several nodes share an address: an event of one node may cause a request to another, which does not have the change yet. */
async function catchUpWithEvent({ source, services: { refetchHub }, query }: SdkRequest): Promise<void> {
  const { flagConfigEtag: node } = query;
  if (node !== undefined && node !== refetchHub.id && !source.following) await source.refresh();
}

function queryIn({ source, principal, query }: SdkRequest): ClientQuery {
  return clientQueryOf({ scope: principal.scope, query, source });
}

function scopeOf({ body }: SdkRequest, { environment }: ClientQuery) {
  const { context = {} } = unchecked<{ readonly context?: OpenFeatureContext } | undefined>(body) ?? {};
  return { context, environment };
}
