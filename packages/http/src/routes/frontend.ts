import type { EvaluatedFlag, EvaluatedVariant, EvaluationContext } from '@flags/core';
import { unchecked } from '../body.js';
import { clientQueryOf, isSelected } from '../client/client-document.js';
import { wholeList } from '../json-chunks.js';
import { type QueryParameter, type Route, type RouteRequest, route } from '../route.js';
import { contextFromWire, frontendBodySchema, type WireFrontendBody } from '../wire/client.js';
import { FRONTEND } from './paths.js';

/** Omits disabled flags. Browser SDKs treat a missing flag as disabled. */
function toToggles(flags: readonly EvaluatedFlag[]) {
  const on = flags.filter(({ enabled }) => enabled);
  return wholeList('toggles', on, frontendToggleToWire);
}

function frontendToggleToWire({ name, enabled, variant, impressionData }: EvaluatedFlag) {
  return { name, enabled, variant: evaluatedVariantToWire(variant), impressionData };
}

/** Older SDKs read `feature_enabled`, newer ones `featureEnabled`. */
export function evaluatedVariantToWire({ name, enabled, feature_enabled, payload }: EvaluatedVariant) {
  return { name, enabled, feature_enabled, featureEnabled: feature_enabled, ...(payload && { payload }) };
}

/**
 * The token determines the environment of the evaluation, or the settings if it names none. The `environment` of the
 * SDK is only a context field for constraints.
 */
const CONTEXT_PARAMETERS: readonly QueryParameter[] = [
  field('userId', 'The user.'),
  field('sessionId', 'The session.'),
  field('remoteAddress', 'The address of the user; that of the request when absent.'),
  field('environment', 'What constraints on `environment` compare; it does not choose the environment.'),
  field('appName', 'The application.'),
  field('currentTime', 'The time that counts, ISO 8601; now when absent.'),
  {
    name: 'properties',
    description: 'Any other fields of the context: properties[name]=value.',
    schema: () => ({ type: 'object', additionalProperties: { type: 'string' } }),
  },
];

export const frontendRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: FRONTEND,
    action: 'evaluateFlags',
    summary: 'The flags that are on for a context in the query',
    tag: 'Frontend',
    access: 'frontend',
    query: CONTEXT_PARAMETERS,
    reply: { status: 200, schema: 'FrontendToggles' },
    errors: ['invalid_input', 'environment_not_found'],
    async handle(request) {
      const context = contextFromWire(request.query, request.clientIp());
      return toToggles(await evaluate(request, context));
    },
  }),
  route({
    method: 'POST',
    path: FRONTEND,
    action: 'evaluateFlagsForContext',
    summary: 'The flags that are on for a context in the body',
    tag: 'Frontend',
    access: 'frontend',
    body: { required: false, schema: () => frontendBodySchema, checkedBy: 'router' },
    reply: { status: 200, schema: 'FrontendToggles' },
    errors: ['invalid_input', 'environment_not_found'],
    async handle(request) {
      const { context } = unchecked<WireFrontendBody | undefined>(request.body) ?? {};
      return toToggles(await evaluate(request, contextFromWire(context ?? {}, request.clientIp())));
    },
  }),
];

function field(name: string, description: string): QueryParameter {
  return { name, description, schema: () => ({ type: 'string' }) };
}

/** Evaluates in slices. `forContext` pins the configuration, so that the list of visible flags fits the evaluation. */
async function evaluate(
  { flags, scope, signal }: RouteRequest,
  context: EvaluationContext,
): Promise<readonly EvaluatedFlag[]> {
  const asked = clientQueryOf({ scope, query: {}, settings: flags.settings });
  const visible = flags.configuration(asked).flags.filter((flag) => isSelected(flag, asked));
  return flags.forContext(context, asked).evaluateAllAsync({ names: visible.map(({ name }) => name), signal });
}
