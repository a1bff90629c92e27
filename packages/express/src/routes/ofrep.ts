import { FlagsError, findFlag, resolveAllAsync, resolveVariant } from '@flags/core';
import { isInView, type View, viewOf } from '../client/view.js';
import { type Route, type RouteRequest, route } from '../route.js';
import { unchecked } from '../unchecked.js';
import { type OfrepRequest, ofrepRequestSchema, resolutionToOfrep } from '../wire/ofrep.js';
import { OFREP_FLAGS } from './paths.js';
import { ENVIRONMENT_PARAMETER } from './query-parameters.js';

/** The OpenFeature Remote Evaluation Protocol: one flag for providers in servers, all of them for those in browsers. */
export const ofrepRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: `${OFREP_FLAGS}/:key`,
    action: 'resolveFlag',
    summary: 'One flag for a context, for OpenFeature',
    tag: 'OFREP',
    access: 'ofrep',
    query: [ENVIRONMENT_PARAMETER],
    body: { required: false, schema: () => ofrepRequestSchema, checkedBy: 'router' },
    reply: { status: 200, schema: 'OfrepEvaluation' },
    errors: ['invalid_input', 'environment_not_found', 'flag_not_found'],
    protocol: 'ofrep',
    async handle(request) {
      const { flags, params, tokenKind } = request;
      const view = viewIn(request);
      const configured = findFlag(flags.configuration(view), params.key);
      const isVisible = configured !== undefined && isInView(configured, view);
      const resolution = isVisible ? resolveVariant(flags, params.key, scopeOf(request, view)) : undefined;
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
    body: { required: false, schema: () => ofrepRequestSchema, checkedBy: 'router' },
    reply: { status: 200, schema: 'OfrepEvaluations' },
    errors: ['invalid_input', 'environment_not_found'],
    protocol: 'ofrep',
    conditional: true,
    async handle(request) {
      const view = viewIn(request);
      const resolutions = await resolveAllAsync(request.flags, scopeOf(request, view));
      const visible = resolutions.filter(({ flag: name, metadata: { project } }) => isInView({ name, project }, view));
      return { body: { flags: visible.map((one) => resolutionToOfrep(one, request.tokenKind)) } };
    },
  }),
];

function viewIn({ flags: { settings }, scope, query }: RouteRequest): View {
  return viewOf({ scope, query, settings });
}

function scopeOf({ body }: RouteRequest, { environment }: View) {
  const { context = {} } = unchecked<OfrepRequest | undefined>(body) ?? {};
  return { context, environment };
}
