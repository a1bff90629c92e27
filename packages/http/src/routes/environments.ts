import type { Settings } from '@flags/core';
import { type Route, route } from '../route.js';
import { ENVIRONMENT, environmentRef } from './paths.js';

/** The types of environments that Unleash 4.x knows. */
const TYPES = ['development', 'test', 'preproduction', 'production'];

/** Returns the type of that name; for other names `production` for the default environment, `development` for others. */
function typeOf(name: string, { environment }: Settings): string {
  if (TYPES.includes(name)) return name;
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
    errors: [
      'project_not_found',
      'flag_not_found',
      'environment_not_found',
      'environment_has_no_strategies',
      'flag_archived',
      'revision_mismatch',
    ],
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
    errors: ['project_not_found', 'flag_not_found', 'environment_not_found', 'flag_archived', 'revision_mismatch'],
    ifMatch: 'flag',
    async handle({ flags, params, context }) {
      await flags.disable(environmentRef(params), context);
      return {};
    },
  }),
];
