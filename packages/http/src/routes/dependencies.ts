import type { Dependency, DependencyInput, ErrorCode } from '@flags/core';
import type { JsonSchema } from '@flags/core/integration';
import { unchecked } from '../body.js';
import { listPieces, propertiesOf, propertyOf } from '../query.js';
import { type Route, route } from '../route.js';
import { DEPENDENCIES, FLAG, flagRef } from './paths.js';

/** A dependency in wire form: `feature` is the parent's name. */
export interface WireDependency extends Omit<DependencyInput, 'flag'> {
  readonly feature: string;
}

/** Applies the engine's schema to the wire names. */
function dependencySchema(dependency: JsonSchema): JsonSchema {
  const { flag: _flag, ...rest } = propertiesOf(dependency);
  return { type: 'object', properties: { feature: propertyOf(dependency, 'flag'), ...rest }, required: ['feature'] };
}

function dependencyFromWire({ feature, enabled, variants }: WireDependency): DependencyInput {
  return { flag: feature, ...(enabled !== undefined && { enabled }), ...(variants !== undefined && { variants }) };
}

export function dependencyToWire({ flag, enabled, variants }: Dependency) {
  return { feature: flag, enabled, variants };
}

const FLAG_CHANGE_ERRORS: readonly ErrorCode[] = [
  'project_not_found',
  'flag_not_found',
  'flag_archived',
  'revision_mismatch',
];

export const dependencyRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: DEPENDENCIES,
    action: 'addDependency',
    summary: 'Make a flag depend on a parent, or change how it does',
    tag: 'Dependencies',
    access: 'admin',
    body: { required: true, schema: ({ dependency }) => dependencySchema(dependency), checkedBy: 'router' },
    changes: 'flag',
    reply: { status: 200, schema: 'Dependency' },
    errors: ['invalid_input', 'parent_not_found', 'dependency_cycle', 'dependency_too_deep', ...FLAG_CHANGE_ERRORS],
    ifMatch: 'flag',
    async handle({ flags, params, body, context }) {
      const input = dependencyFromWire(unchecked<WireDependency>(body));
      return { body: dependencyToWire(await flags.addDependency(flagRef(params), input, context)) };
    },
  }),
  route({
    method: 'DELETE',
    path: `${DEPENDENCIES}/:parentName`,
    action: 'removeDependency',
    summary: 'End the dependency of a flag on one parent',
    tag: 'Dependencies',
    access: 'admin',
    changes: 'flag',
    reply: { status: 200 },
    errors: ['dependency_not_found', ...FLAG_CHANGE_ERRORS],
    ifMatch: 'flag',
    async handle({ flags, params, context }) {
      await flags.removeDependency(flagRef(params), { flag: params.parentName }, context);
      return {};
    },
  }),
  route({
    method: 'DELETE',
    path: DEPENDENCIES,
    action: 'removeDependencies',
    summary: 'End all dependencies of a flag',
    tag: 'Dependencies',
    access: 'admin',
    changes: 'flag',
    reply: { status: 200 },
    errors: FLAG_CHANGE_ERRORS,
    ifMatch: 'flag',
    async handle({ flags, params, context }) {
      await flags.removeDependencies(flagRef(params), context);
      return {};
    },
  }),
  route({
    method: 'GET',
    path: `${FLAG}/parents`,
    action: 'listPossibleParents',
    summary: 'The names of the flags that a flag could depend on',
    tag: 'Dependencies',
    access: 'admin',
    paged: 'optional',
    streamed: 'flags',
    reply: { status: 200, schema: 'PossibleParents' },
    errors: ['invalid_input', 'project_not_found', 'flag_not_found'],
    async handle({ flags, params, query }) {
      const ref = flagRef(params);
      const { items, next } = await listPieces(query, {
        whole: () => flags.listPossibleParents(ref),
        page: (page) => flags.listPossibleParents(ref, page),
        cursorOf: (name) => name,
        toWire: (name) => name,
      });
      return { chunks: items, next };
    },
  }),
];
