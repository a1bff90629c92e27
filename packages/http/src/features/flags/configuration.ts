import {
  type DependencyInput,
  type EnvironmentRef,
  type FlagDetail,
  type Flags,
  FlagsError,
  type FlagsSettings,
} from '@flags/core';
import type { InputSchemas } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import {
  DEPENDENCIES,
  ENVIRONMENT,
  ENVIRONMENT_VARIANTS,
  FLAG,
  STRATEGIES,
  STRATEGY,
  STRATEGY_ORDER,
  VARIANTS,
} from '../../api/paths.js';
import { listReply, WHOLE_LIST } from '../../api/query.js';
import { changeAndReply, route } from '../../api/route.js';
import { withSegmentCheck } from '../../changes/change-permissions.js';
import { JSON_PATCH, readPatch } from '../../changes/json-patch.js';
import { unchecked } from '../../messages/request.js';
import {
  boolean,
  component,
  environmentName,
  example,
  listOf,
  objectComponent,
  positiveInteger,
  propertiesOf,
  propertyOf,
  text,
  variantName,
  version,
} from '../../messages/schema.js';
import { patchStrategy, patchVariants, patchWithVariableType } from './patches.js';
import {
  dependencySchema,
  dependencyToWire,
  flagInEnvironmentToWire,
  strategySchema,
  strategyToWire,
  variantListToWire,
  variantSchema,
  variantWeightsToWire,
  weight,
  weightType,
  withVariableType,
} from './wire.js';

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

const flagInEnvironmentSchema = objectComponent('FlagInEnvironment', {
  name: { ...text, description: 'The name of the flag.' },
  environment: text,
  enabled: boolean,
  strategies: listOf(strategySchema),
});

/** Replies about variants have their version as text. */
const textVersion: JsonSchema = { type: 'string', const: '1' };

const variantWeightsSchema = objectComponent('VariantWeights', {
  version: textVersion,
  variants: listOf(objectComponent('VariantWeight', { name: variantName, weightType, weight })),
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

export const environmentRoutes = [
  route('GET', '/api/admin/environments', 'listEnvironments', {
    permissionIn: 'anyProject',
    summary: 'List the environments of the instance, in the configured order',
    reply: objectComponent('EnvironmentList', { version, environments: listOf(environmentSchema) }),
    handle: async ({ flags }) => ({ body: environmentListToWire(flags.settings) }),
  }),
  route('GET', ENVIRONMENT, 'getFlagEnvironment', {
    summary: 'Get the configuration of a flag in one environment',
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
    handle: ({ flags, ref, context }) => changeAndReply(flags, 'enable', { ref, context }),
  }),
  route('POST', `${ENVIRONMENT}/off`, 'disable', {
    summary: 'Switch a flag off in one environment',
    changes: 'flag',
    handle: ({ flags, ref, context }) => changeAndReply(flags, 'disable', { ref, context }),
  }),
];

export const strategyRoutes = [
  route('GET', STRATEGIES, 'listStrategies', {
    summary: 'List the strategies of a flag in one environment, in evaluation order',
    reply: component('StrategyList', listOf(strategySchema)),
    async handle({ flags, ref }) {
      const { flag, environment } = await readEnvironment(flags, ref);
      return { body: environment.strategies.map(strategyToWire), revision: flag.revision };
    },
  }),
  route('GET', STRATEGY, 'getStrategy', {
    summary: 'Get a strategy',
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
    summary: 'Set the evaluation order of strategies; strategies that are not named keep theirs',
    body: 'strategyOrder',
    changes: 'flag',
    errors: ['strategy_not_found'],
    handle: ({ flags, ref, body, context }) =>
      changeAndReply(flags, 'orderStrategies', { ref, input: unchecked(body), context }),
  }),
  route('POST', STRATEGIES, 'addStrategy', {
    summary: 'Add a strategy to a flag in one environment',
    body: 'strategy',
    changes: 'flag',
    reply: strategySchema,
    handle: ({ ref, body, context, ...request }) =>
      changeAndReply(withSegmentCheck(request), 'addStrategy', {
        ref,
        input: unchecked(body),
        context,
        toWire: strategyToWire,
      }),
  }),
  route('PUT', STRATEGY, 'updateStrategy', {
    summary: 'Replace a strategy and keep its id',
    body: 'strategyReplacement',
    changes: 'flag',
    reply: strategySchema,
    handle: ({ ref, body, context, ...request }) =>
      changeAndReply(withSegmentCheck(request), 'updateStrategy', {
        ref,
        input: unchecked(body),
        context,
        toWire: strategyToWire,
      }),
  }),
  route('PATCH', STRATEGY, 'patchStrategy', {
    summary: 'Update a strategy with a JSON Patch (RFC 6902)',
    body: JSON_PATCH,
    changes: 'flag',
    reply: strategySchema,
    errors: ['invalid_patch', 'patch_test_failed'],
    async handle({ ref, body, context, ...request }) {
      const { result, revision } = await patchStrategy(withSegmentCheck(request), { ref, patch: body, context });
      return { body: strategyToWire(result), revision };
    },
  }),
  route('DELETE', STRATEGY, 'removeStrategy', {
    summary: 'Remove a strategy; removing the last one switches the environment off',
    changes: 'flag',
    handle: ({ flags, ref, context }) => changeAndReply(flags, 'removeStrategy', { ref, context }),
  }),
];

export const variantRoutes = [
  route('GET', ENVIRONMENT_VARIANTS, 'listVariants', {
    summary: 'Get the variants of a flag, which are the same in every environment',
    reply: objectComponent('VariantList', { version: textVersion, variants: listOf(variantSchema) }),
    async handle({ flags, ref }) {
      const { flag } = await readEnvironment(flags, ref);
      return { body: variantListToWire(flag.variants), revision: flag.revision };
    },
  }),
  route('PUT', VARIANTS, 'setVariants', {
    summary: 'Replace the variants of a flag in all environments',
    body: 'variants',
    changes: 'flag',
    reply: variantWeightsSchema,
    handle: ({ flags, ref, body, context }) =>
      changeAndReply(flags, 'setVariants', {
        ref,
        input: unchecked(withVariableType(body)),
        context,
        toWire: variantWeightsToWire,
      }),
  }),
  route('PATCH', VARIANTS, 'patchVariants', {
    summary: 'Update the variants of a flag in all environments with a JSON Patch (RFC 6902)',
    body: JSON_PATCH,
    changes: 'flag',
    reply: variantWeightsSchema,
    errors: ['invalid_patch', 'patch_test_failed'],
    deprecated: true,
    async handle({ flags, ref, body, context }) {
      // Read before it is copied: a body may have half a million operations.
      const patch = patchWithVariableType(readPatch(body));
      const { result, revision } = await patchVariants(flags, { ref, patch, context });
      return { body: variantWeightsToWire(result), revision };
    },
  }),
];

/** A dependency in wire form: `feature` is the parent's name. */
interface WireDependency extends Omit<DependencyInput, 'flag'> {
  readonly feature: string;
}

/** Applies the engine's schema to the wire names. */
function dependencyInput({ dependency }: InputSchemas): JsonSchema {
  const { flag: _flag, ...rest } = propertiesOf(dependency);
  return { type: 'object', properties: { feature: propertyOf(dependency, 'flag'), ...rest }, required: ['feature'] };
}

function dependencyFromWire({ feature, enabled, variants }: WireDependency): DependencyInput {
  return { flag: feature, ...(enabled !== undefined && { enabled }), ...(variants !== undefined && { variants }) };
}

export const dependencyRoutes = [
  route('POST', DEPENDENCIES, 'addDependency', {
    summary: 'Add or update the dependency of a flag on a parent',
    body: { schema: dependencyInput },
    changes: 'flag',
    reply: dependencySchema,
    errors: ['parent_not_found', 'dependency_cycle', 'dependency_too_deep'],
    async handle({ flags, ref, body, context }) {
      const input = dependencyFromWire(unchecked<WireDependency>(body));
      return changeAndReply(flags, 'addDependency', { ref, input, context, toWire: dependencyToWire });
    },
  }),
  route('DELETE', `${DEPENDENCIES}/:parentName`, 'removeDependency', {
    summary: 'Remove the dependency of a flag on one parent',
    changes: 'flag',
    handle: ({ flags, ref, params, context }) =>
      changeAndReply(flags, 'removeDependency', { ref, input: { flag: params.parentName }, context }),
  }),
  route('DELETE', DEPENDENCIES, 'removeDependencies', {
    summary: 'Remove all dependencies of a flag',
    changes: 'flag',
    handle: ({ flags, ref, context }) => changeAndReply(flags, 'removeDependencies', { ref, context }),
  }),
  route('GET', `${FLAG}/parents`, 'listPossibleParents', {
    summary: 'List the names of the flags that a flag could depend on',
    paged: 'optional',
    long: WHOLE_LIST,
    reply: component('PossibleParents', example(['payments', 'search'], listOf(text))),
    handle: ({ flags, ref, query }) =>
      listReply(query, {
        isWhole: true,
        page: (page) => flags.listPossibleParents(ref, page),
        body: (names) => names,
      }),
  }),
];
