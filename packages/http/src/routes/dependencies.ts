import type { DependencyInput } from '@flags/core';
import type { InputSchemas, JsonSchema } from '@flags/core/integration';
import { unchecked } from '../body.js';
import { listReply } from '../query.js';
import { type Route, route } from '../route.js';
import { component, example, listOf, propertiesOf, propertyOf, text } from '../schema.js';
import { dependencySchema, dependencyToWire } from '../wire/flag.js';
import { DEPENDENCIES, FLAG } from './paths.js';

const possibleParentsSchema = component('PossibleParents', example(['payments', 'search'], listOf(text)));

/** A dependency in wire form: `feature` is the parent's name. */
export interface WireDependency extends Omit<DependencyInput, 'flag'> {
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

export const dependencyRoutes: readonly Route[] = [
  route('POST', DEPENDENCIES, 'addDependency', {
    summary: 'Make a flag depend on a parent, or change how it does',
    body: { schema: dependencyInput },
    changes: 'flag',
    reply: dependencySchema,
    errors: ['parent_not_found', 'dependency_cycle', 'dependency_too_deep'],
    async handle({ flags, ref, body, context }) {
      const input = dependencyFromWire(unchecked<WireDependency>(body));
      return { body: dependencyToWire(await flags.addDependency(ref, input, context)) };
    },
  }),
  route('DELETE', `${DEPENDENCIES}/:parentName`, 'removeDependency', {
    summary: 'End the dependency of a flag on one parent',
    changes: 'flag',
    async handle({ flags, ref, params, context }) {
      await flags.removeDependency(ref, { flag: params.parentName }, context);
    },
  }),
  route('DELETE', DEPENDENCIES, 'removeDependencies', {
    summary: 'End all dependencies of a flag',
    changes: 'flag',
    async handle({ flags, ref, context }) {
      await flags.removeDependencies(ref, context);
    },
  }),
  route('GET', `${FLAG}/parents`, 'listPossibleParents', {
    summary: 'The names of the flags that a flag could depend on',
    paged: 'optional',
    streamed: 'flags',
    reply: possibleParentsSchema,
    handle: ({ flags, ref, query }) =>
      listReply(query, {
        isWhole: true,
        page: (page) => flags.listPossibleParents(ref, page),
        body: (names) => names,
      }),
  }),
];
