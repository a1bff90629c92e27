import type { ErrorCode, Settings } from '@flags/core';
import { unchecked } from '../body.js';
import { askingForSegments } from '../changes/permissions.js';
import { type Route, route } from '../route.js';
import { strategyToWire, variantWeightsToWire } from '../wire/flag.js';
import { ENVIRONMENT, environmentRef, flagRef, STRATEGIES, STRATEGY, strategyRef, VARIANTS } from './paths.js';

/** The types of environments that Unleash 4.x knows. */
const ENVIRONMENT_TYPES = ['development', 'test', 'preproduction', 'production'];

/** Returns the type of that name; for other names `production` for the default environment, `development` for others. */
function typeOf(name: string, { environment }: Settings): string {
  if (ENVIRONMENT_TYPES.includes(name)) return name;
  return name === environment ? 'production' : 'development';
}

/** Environments are configured: all are enabled, and the API can neither change nor delete them. */
function environmentListToWire(settings: Settings) {
  const environments = settings.environments.map(({ name, displayName }, index) => ({
    name,
    displayName,
    type: typeOf(name, settings),
    enabled: true,
    protected: true,
    sortOrder: index + 1,
  }));
  return { version: 1, environments };
}

/** The refusals of every change in one environment of a flag. */
const ENVIRONMENT_ERRORS: readonly ErrorCode[] = [
  'project_not_found',
  'flag_not_found',
  'environment_not_found',
  'flag_archived',
  'revision_mismatch',
];

export const environmentRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/api/admin/environments',
    action: 'listEnvironments',
    permission: 'listFlags',
    permissionBy: 'anyProject',
    summary: 'The environments of the instance, in the configured order',
    tag: 'Environments',
    access: 'admin',
    reply: { status: 200, schema: 'EnvironmentList' },
    errors: [],
    handle: async ({ flags }) => ({ body: environmentListToWire(flags.settings) }),
  }),
  route({
    method: 'POST',
    path: `${ENVIRONMENT}/on`,
    action: 'enable',
    summary: 'Switch a flag on in one environment',
    tag: 'Environments',
    access: 'admin',
    changes: 'flag',
    reply: { status: 200 },
    errors: ['environment_has_no_strategies', ...ENVIRONMENT_ERRORS],
    ifMatch: 'flag',
    async handle({ flags, params, context }) {
      await flags.enable(environmentRef(params), context);
      return {};
    },
  }),
  route({
    method: 'POST',
    path: `${ENVIRONMENT}/off`,
    action: 'disable',
    summary: 'Switch a flag off in one environment',
    tag: 'Environments',
    access: 'admin',
    changes: 'flag',
    reply: { status: 200 },
    errors: ENVIRONMENT_ERRORS,
    ifMatch: 'flag',
    async handle({ flags, params, context }) {
      await flags.disable(environmentRef(params), context);
      return {};
    },
  }),
];

export const strategyRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: STRATEGIES,
    action: 'addStrategy',
    summary: 'Add a strategy to a flag in one environment',
    tag: 'Strategies',
    access: 'admin',
    body: { required: true, schema: ({ strategy }) => strategy, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'Strategy' },
    errors: ['invalid_input', ...ENVIRONMENT_ERRORS],
    ifMatch: 'flag',
    handle: async ({ params, body, context, ...request }) => ({
      body: strategyToWire(
        await askingForSegments(request).addStrategy(environmentRef(params), unchecked(body), context),
      ),
    }),
  }),
  route({
    method: 'PUT',
    path: STRATEGY,
    action: 'updateStrategy',
    summary: 'Replace a strategy; its id stays',
    tag: 'Strategies',
    access: 'admin',
    body: { required: true, schema: ({ strategyReplacement }) => strategyReplacement, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'Strategy' },
    errors: ['invalid_input', 'strategy_not_found', ...ENVIRONMENT_ERRORS],
    ifMatch: 'flag',
    handle: async ({ params, body, context, ...request }) => ({
      body: strategyToWire(
        await askingForSegments(request).updateStrategy(strategyRef(params), unchecked(body), context),
      ),
    }),
  }),
  route({
    method: 'PATCH',
    path: STRATEGY,
    action: 'patchStrategy',
    summary: 'Change a strategy by a JSON Patch (RFC 6902)',
    tag: 'Strategies',
    access: 'admin',
    body: { required: true, schema: ({ jsonPatch }) => jsonPatch, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'Strategy' },
    errors: ['invalid_input', 'invalid_patch', 'patch_test_failed', 'strategy_not_found', ...ENVIRONMENT_ERRORS],
    ifMatch: 'flag',
    handle: async ({ params, body, context, ...request }) => ({
      body: strategyToWire(
        await askingForSegments(request).patchStrategy(strategyRef(params), unchecked(body), context),
      ),
    }),
  }),
  route({
    method: 'DELETE',
    path: STRATEGY,
    action: 'removeStrategy',
    summary: 'Remove a strategy; the last one switches the environment off',
    tag: 'Strategies',
    access: 'admin',
    changes: 'flag',
    reply: { status: 200 },
    errors: ['strategy_not_found', ...ENVIRONMENT_ERRORS],
    ifMatch: 'flag',
    async handle({ flags, params, context }) {
      await flags.removeStrategy(strategyRef(params), context);
      return {};
    },
  }),
];

const VARIANT_ERRORS: readonly ErrorCode[] = [
  'invalid_input',
  'project_not_found',
  'flag_not_found',
  'flag_archived',
  'revision_mismatch',
];

export const variantRoutes: readonly Route[] = [
  route({
    method: 'PUT',
    path: VARIANTS,
    action: 'setVariants',
    summary: 'Replace the variants of a flag, in all environments at once',
    tag: 'Variants',
    access: 'admin',
    body: { required: true, schema: ({ variants }) => variants, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'VariantWeights' },
    errors: VARIANT_ERRORS,
    ifMatch: 'flag',
    handle: async ({ flags, params, body, context }) => ({
      body: variantWeightsToWire(await flags.setVariants(flagRef(params), unchecked(body), context)),
    }),
  }),
  route({
    method: 'PATCH',
    path: VARIANTS,
    action: 'patchVariants',
    summary: 'Change the variants of a flag by a JSON Patch (RFC 6902), in all environments at once',
    tag: 'Variants',
    access: 'admin',
    body: { required: true, schema: ({ jsonPatch }) => jsonPatch, checkedBy: 'core' },
    changes: 'flag',
    reply: { status: 200, schema: 'VariantWeights' },
    errors: [...VARIANT_ERRORS, 'invalid_patch', 'patch_test_failed'],
    ifMatch: 'flag',
    deprecated: true,
    handle: async ({ flags, params, body, context }) => ({
      body: variantWeightsToWire(await flags.patchVariants(flagRef(params), unchecked(body), context)),
    }),
  }),
];
