import { type Route, route } from '../route.js';
import { ENVIRONMENT, environmentRef } from './paths.js';

export const environmentRoutes: readonly Route[] = [
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
