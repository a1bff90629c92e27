import { FlagsError, type TokenKind } from '@flags/core';
import {
  type FlagResolution,
  findFlag,
  type JsonSchema,
  type OpenFeatureContext,
  type PayloadValue,
  payloadValue,
  type ResolutionMetadata,
  type ResolutionReason,
  resolveAll,
  resolveVariant,
} from '@flags/core/integration';
import { unchecked } from '../body.js';
import { type ClientQuery, clientQueryOf, isSelected } from '../client/client-document.js';
import { wholeList } from '../json-chunks.js';
import { type Route, type RouteBody, type RouteRequest, route } from '../route.js';
import { ENVIRONMENT_PARAMETER, OFREP_FLAGS } from './paths.js';

/** The request body of the OpenFeature Remote Evaluation Protocol. */
export interface OfrepRequest {
  readonly context?: OpenFeatureContext;
}

const ofrepRequestSchema: JsonSchema = {
  type: 'object',
  properties: {
    context: {
      type: 'object',
      properties: { targetingKey: { type: 'string', description: 'The user, unless the context has a userId.' } },
      description: 'targetingKey, and whatever else strategies ask for.',
    },
  },
};

const BODY: RouteBody = { required: true, schema: () => ofrepRequestSchema, checkedBy: 'router' };

/** The evaluation of a flag in the form of the protocol. */
export interface OfrepEvaluation {
  readonly key: string;
  /** Absent if the flag is off, and its variants have payloads: the caller's default is meant. */
  readonly value?: PayloadValue;
  readonly reason: ResolutionReason;
  readonly variant?: string;
  readonly metadata?: ResolutionMetadata;
}

/**
 * Converts a resolution to the protocol. Its requests name no type, so the value is the variant's payload. Without a
 * payload, the value is whether the flag is enabled.
 */
function resolutionToOfrep(resolution: FlagResolution, tokenKind: TokenKind | undefined): OfrepEvaluation {
  if (!resolution.enabled) return offToOfrep(resolution, tokenKind);
  const { flag, reason, variant, metadata } = resolution;
  const value = (variant?.payload && payloadValue(variant.payload)) ?? true;
  return { key: flag, value, reason, ...(variant && { variant: variant.name }), metadata };
}

/**
 * Converts the resolution of a flag that is off for the context. A caller that asks for text or an object gets its own
 * default, because the answer has no value.
 *
 * @param tokenKind A frontend token is public: it gets no metadata. It still gets the flag, because clients use their
 * own default for a missing one.
 */
function offToOfrep(
  { flag, withholdsPayload, metadata }: FlagResolution,
  tokenKind: TokenKind | undefined,
): OfrepEvaluation {
  return {
    key: flag,
    ...(!withholdsPayload && { value: false }),
    reason: 'DISABLED',
    ...(tokenKind !== 'frontend' && { metadata }),
  };
}

/** The OpenFeature Remote Evaluation Protocol: single flags for server providers, all flags for browser providers. */
export const ofrepRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: `${OFREP_FLAGS}/:key`,
    action: 'resolveFlag',
    summary: 'One flag for a context, for OpenFeature',
    tag: 'OFREP',
    access: 'ofrep',
    query: [ENVIRONMENT_PARAMETER],
    body: BODY,
    reply: { status: 200, schema: 'OfrepEvaluation' },
    errors: ['invalid_input', 'environment_not_found', 'flag_not_found'],
    protocol: 'ofrep',
    async handle(request) {
      const { flags, params, tokenKind } = request;
      const asked = queryIn(request);
      const configured = findFlag(flags.configuration(asked), params.key);
      const isVisible = configured !== undefined && isSelected(configured, asked);
      const resolution = isVisible ? resolveVariant(flags, params.key, scopeOf(request, asked)) : undefined;
      if (!resolution) throw new FlagsError('flag_not_found', `There is no flag ${params.key} for this client.`);
      return { body: resolutionToOfrep(resolution, tokenKind) };
    },
  }),
  route({
    method: 'POST',
    path: OFREP_FLAGS,
    action: 'resolveFlags',
    summary: 'All flags for a context, for OpenFeature',
    tag: 'OFREP',
    access: 'ofrep',
    query: [ENVIRONMENT_PARAMETER],
    body: BODY,
    reply: { status: 200, schema: 'OfrepEvaluations' },
    errors: ['invalid_input', 'environment_not_found'],
    protocol: 'ofrep',
    conditional: true,
    async handle(request) {
      const asked = queryIn(request);
      const { flags } = request.flags.configuration(asked);
      const names = flags.filter((flag) => isSelected(flag, asked)).map(({ name }) => name);
      const { signal } = request;
      const resolutions = await resolveAll(request.flags, scopeOf(request, asked), { names, signal });
      return wholeList('flags', resolutions, (one) => resolutionToOfrep(one, request.tokenKind));
    },
  }),
];

function queryIn({ flags: { settings }, scope, query }: RouteRequest): ClientQuery {
  return clientQueryOf({ scope, query, settings });
}

function scopeOf({ body }: RouteRequest, { environment }: ClientQuery) {
  const { context = {} } = unchecked<OfrepRequest | undefined>(body) ?? {};
  return { context, environment };
}
