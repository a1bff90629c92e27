import { type EvaluatedFlag, type EvaluationContext, LIMITS } from '@flags/core';
import { evaluatePaced } from '@flags/core/integration/http';
import { pause } from '@flags/core/integration/shared';
import { FRONTEND } from '../../api/paths.js';
import { otherParametersIn, parameter } from '../../api/query.js';
import { type QueryParameter, type RouteResult, type SdkRequest, sdkRoute } from '../../api/route.js';
import { clientQueryOf, selectedNames } from '../../client/client-document.js';
import { jsonArray } from '../../messages/json.js';
import { addressOf, unchecked } from '../../messages/request.js';
import { boolean, listOf, mapOf, objectComponent, text } from '../../messages/schema.js';
import {
  contextFromWire,
  evaluatedVariantSchema,
  evaluatedVariantToWire,
  frontendBodySchema,
  type WireContext,
} from './wire.js';

const frontendToggleSchema = objectComponent('FrontendToggle', {
  name: text,
  enabled: { type: 'boolean', const: true },
  variant: evaluatedVariantSchema,
  impressionData: boolean,
});

const frontendTogglesSchema = objectComponent('FrontendToggles', {
  toggles: { ...listOf(frontendToggleSchema), description: 'The flags that are on.' },
});

/** Omits disabled flags. Browser SDKs treat a missing flag as disabled. */
async function* enabledIn(pages: AsyncIterable<readonly EvaluatedFlag[]>): AsyncGenerator<readonly EvaluatedFlag[]> {
  for await (const page of pages) yield page.filter(({ enabled }) => enabled);
}

function frontendToggleToWire({ name, enabled, variant, impressionData }: EvaluatedFlag) {
  return { name, enabled, variant: evaluatedVariantToWire(variant), impressionData };
}

/**
 * The token determines the environment of the evaluation, or the settings if it names none. The `environment` of the
 * SDK is only a context field for constraints.
 */
const CONTEXT_PARAMETERS: readonly QueryParameter[] = [
  parameter('userId', 'The user.'),
  parameter('sessionId', 'The session.'),
  parameter('remoteAddress', 'The IP address of the user. Default: the address of the request.'),
  parameter(
    'environment',
    'Value for constraints on `environment`. It does not select the environment of the evaluation.',
  ),
  parameter('appName', 'The application.'),
  parameter('currentTime', 'Time of the evaluation, in ISO 8601. Default: now.'),
  parameter('properties', 'Other fields of the context, as `properties[name]=value` or `name=value`.', {
    ...mapOf(text),
    maxProperties: LIMITS.contextProperties,
  }),
];

export const frontendRoutes = [
  sdkRoute('GET', FRONTEND, 'evaluateFlags', {
    summary: 'List the flags that are on for the context in the query',
    query: CONTEXT_PARAMETERS,
    reply: frontendTogglesSchema,
    long: { kind: 'evaluation' },
    errors: ['environment_not_found'],
    async handle(request) {
      const { query, sent } = request;
      const context = { ...otherParametersIn(sent.rawQuery, CONTEXT_PARAMETERS), ...query };
      return evaluate(request, contextFromWire(context, addressOf(sent)));
    },
  }),
  sdkRoute('POST', FRONTEND, 'evaluateFlagsForContext', {
    summary: 'List the flags that are on for the context in the body',
    body: { schema: frontendBodySchema, required: false, most: LIMITS.contextBytes },
    reply: frontendTogglesSchema,
    long: { kind: 'evaluation' },
    errors: ['invalid_input', 'environment_not_found'],
    async handle(request) {
      const { context } = unchecked<{ readonly context?: WireContext | null } | undefined>(request.body) ?? {};
      return evaluate(request, contextFromWire(context ?? {}, addressOf(request.sent)));
    },
  }),
];

/** Evaluates in slices. `forContext` pins the configuration, so that the names of the visible flags fit the evaluation. */
async function evaluate(
  { source, principal: { scope }, sent: { signal } }: SdkRequest,
  context: EvaluationContext,
): Promise<RouteResult> {
  await pause(signal);
  const asked = clientQueryOf({ scope, query: {}, source });
  const names = selectedNames(source.configuration(asked), asked);
  const pinned = source.forContext(context, asked);
  const pages = evaluatePaced(pinned, { names, ...(signal && { signal }) });
  return { body: { toggles: jsonArray(enabledIn(pages), frontendToggleToWire) } };
}
