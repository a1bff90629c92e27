import { type EnvironmentRef, type FlagDetail, type Flags, FlagsError, type FlagsSettings } from '@flags/core';
import { unchecked } from '../body.js';
import { askingForSegments } from '../changes/permissions.js';
import { type Route, route } from '../route.js';
import {
  boolean,
  component,
  environmentName,
  example,
  listOf,
  objectComponent,
  positiveInteger,
  text,
  variantName,
  version,
} from '../schema.js';
import {
  flagInEnvironmentToWire,
  strategySchema,
  strategyToWire,
  variantListToWire,
  variantSchema,
  variantWeightsToWire,
  weight,
  weightType,
} from '../wire/flag.js';
import { ENVIRONMENT, ENVIRONMENT_VARIANTS, STRATEGIES, STRATEGY, STRATEGY_ORDER, VARIANTS } from './paths.js';

/** The types of environments that Unleash 4.x knows. */
const ENVIRONMENT_TYPES = ['development', 'test', 'preproduction', 'production'];

const environmentSchema = objectComponent('Environment', {
  name: environmentName,
  displayName: text,
  type: example('production', { type: 'string', enum: ENVIRONMENT_TYPES }),
  enabled: boolean,
  protected: boolean,
  sortOrder: positiveInteger,
});

const environmentListSchema = objectComponent('EnvironmentList', { version, environments: listOf(environmentSchema) });

const flagInEnvironmentSchema = objectComponent('FlagInEnvironment', {
  name: { ...text, description: 'The name of the flag.' },
  environment: text,
  enabled: boolean,
  strategies: listOf(strategySchema),
});

const strategyListSchema = component('StrategyList', listOf(strategySchema));

const variantListSchema = objectComponent('VariantList', {
  version: { type: 'string', const: '1' },
  variants: listOf(variantSchema),
});

const variantWeightSchema = objectComponent('VariantWeight', { name: variantName, weightType, weight });

const variantWeightsSchema = objectComponent('VariantWeights', {
  version: { type: 'string', const: '1' },
  variants: listOf(variantWeightSchema),
});

/** Returns the type with this name. Otherwise `production` for the default environment, `development` for others. */
function typeOf(name: string, { environment }: FlagsSettings): string {
  if (ENVIRONMENT_TYPES.includes(name)) return name;
  return name === environment ? 'production' : 'development';
}

/** Environments are configured: all are enabled, and the API can neither change nor delete them. */
function environmentListToWire(settings: FlagsSettings) {
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

/** Reads a flag, and its configuration in the environment of the path. */
async function readEnvironment(flags: Flags, ref: EnvironmentRef) {
  const flag: FlagDetail = await flags.getFlag(ref);
  const environment = flag.environments.find(({ name }) => name === ref.environment);
  if (environment) return { flag, environment };
  const names = flag.environments.map(({ name }) => name).join(', ');
  throw new FlagsError('environment_not_found', `There is no environment ${ref.environment}; there are ${names}.`);
}

export const environmentRoutes: readonly Route[] = [
  route('GET', '/api/admin/environments', 'listEnvironments', {
    permission: 'listFlags',
    permissionBy: 'anyProject',
    summary: 'The environments of the instance, in the configured order',
    reply: environmentListSchema,
    handle: async ({ flags }) => ({ body: environmentListToWire(flags.settings) }),
  }),
  route('GET', ENVIRONMENT, 'getFlagEnvironment', {
    permission: 'getFlag',
    summary: 'The configuration of a flag in one environment',
    reply: flagInEnvironmentSchema,
    async handle({ flags, ref }) {
      const { flag, environment } = await readEnvironment(flags, ref);
      return { body: flagInEnvironmentToWire(flag.name, environment), revision: flag.revision };
    },
  }),
  route('POST', `${ENVIRONMENT}/on`, 'enable', {
    summary: 'Switch a flag on in one environment',
    changes: 'flag',
    errors: ['environment_has_no_strategies'],
    async handle({ flags, ref, context }) {
      await flags.enable(ref, context);
    },
  }),
  route('POST', `${ENVIRONMENT}/off`, 'disable', {
    summary: 'Switch a flag off in one environment',
    changes: 'flag',
    async handle({ flags, ref, context }) {
      await flags.disable(ref, context);
    },
  }),
];

export const strategyRoutes: readonly Route[] = [
  route('GET', STRATEGIES, 'listStrategies', {
    permission: 'getFlag',
    summary: 'The strategies of a flag in one environment, in the order of their evaluation',
    reply: strategyListSchema,
    async handle({ flags, ref }) {
      const { flag, environment } = await readEnvironment(flags, ref);
      return { body: environment.strategies.map(strategyToWire), revision: flag.revision };
    },
  }),
  route('GET', STRATEGY, 'getStrategy', {
    permission: 'getFlag',
    summary: 'One strategy',
    reply: strategySchema,
    async handle({ flags, ref }) {
      const { flag, environment } = await readEnvironment(flags, ref);
      const strategy = environment.strategies.find(({ id }) => id === ref.strategy);
      if (strategy) return { body: strategyToWire(strategy), revision: flag.revision };
      const message = `The flag ${flag.name} has no strategy ${ref.strategy} in ${environment.name}; list its strategies.`;
      throw new FlagsError('strategy_not_found', message);
    },
  }),
  route('POST', STRATEGY_ORDER, 'orderStrategies', {
    permission: 'updateStrategy',
    summary: 'Give strategies their order of evaluation; those that are not named keep theirs',
    body: 'strategyOrder',
    changes: 'flag',
    errors: ['strategy_not_found'],
    async handle({ flags, ref, body, context }) {
      await flags.orderStrategies(ref, unchecked(body), context);
    },
  }),
  route('POST', STRATEGIES, 'addStrategy', {
    summary: 'Add a strategy to a flag in one environment',
    body: 'strategy',
    changes: 'flag',
    reply: strategySchema,
    handle: async ({ ref, body, context, ...request }) => ({
      body: strategyToWire(await askingForSegments(request).addStrategy(ref, unchecked(body), context)),
    }),
  }),
  route('PUT', STRATEGY, 'updateStrategy', {
    summary: 'Replace a strategy; its id stays',
    body: 'strategyReplacement',
    changes: 'flag',
    reply: strategySchema,
    handle: async ({ ref, body, context, ...request }) => ({
      body: strategyToWire(await askingForSegments(request).updateStrategy(ref, unchecked(body), context)),
    }),
  }),
  route('PATCH', STRATEGY, 'patchStrategy', {
    summary: 'Change a strategy by a JSON Patch (RFC 6902)',
    body: 'jsonPatch',
    changes: 'flag',
    reply: strategySchema,
    errors: ['invalid_patch', 'patch_test_failed'],
    handle: async ({ ref, body, context, ...request }) => ({
      body: strategyToWire(await askingForSegments(request).patchStrategy(ref, unchecked(body), context)),
    }),
  }),
  route('DELETE', STRATEGY, 'removeStrategy', {
    summary: 'Remove a strategy; the last one switches the environment off',
    changes: 'flag',
    async handle({ flags, ref, context }) {
      await flags.removeStrategy(ref, context);
    },
  }),
];

export const variantRoutes: readonly Route[] = [
  route('GET', ENVIRONMENT_VARIANTS, 'listVariants', {
    permission: 'getFlag',
    summary: 'The variants of a flag, which are the same in every environment',
    reply: variantListSchema,
    async handle({ flags, ref }) {
      const { flag } = await readEnvironment(flags, ref);
      return { body: variantListToWire(flag.variants), revision: flag.revision };
    },
  }),
  route('PUT', VARIANTS, 'setVariants', {
    summary: 'Replace the variants of a flag, in all environments at once',
    body: 'variants',
    changes: 'flag',
    reply: variantWeightsSchema,
    handle: async ({ flags, ref, body, context }) => ({
      body: variantWeightsToWire(await flags.setVariants(ref, unchecked(body), context)),
    }),
  }),
  route('PATCH', VARIANTS, 'patchVariants', {
    summary: 'Change the variants of a flag by a JSON Patch (RFC 6902), in all environments at once',
    body: 'jsonPatch',
    changes: 'flag',
    reply: variantWeightsSchema,
    errors: ['invalid_patch', 'patch_test_failed'],
    deprecated: true,
    handle: async ({ flags, ref, body, context }) => ({
      body: variantWeightsToWire(await flags.patchVariants(ref, unchecked(body), context)),
    }),
  }),
];
