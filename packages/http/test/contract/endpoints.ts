import type { ActionName } from '../../src/actions.js';

/** The contract's table of endpoints, copied exactly. */
export const ENDPOINTS = {
  1: ['GET', '/api/admin/projects/:projectId', 'getProject'],
  2: ['GET', '/api/admin/projects/:projectId/features', 'listFlags'],
  3: ['POST', '/api/admin/projects/:projectId/features', 'createFlag'],
  4: ['GET', '/api/admin/projects/:projectId/features/:featureName', 'getFlag'],
  5: ['PUT', '/api/admin/projects/:projectId/features/:featureName', 'updateFlag'],
  6: ['PATCH', '/api/admin/projects/:projectId/features/:featureName', 'patchFlag'],
  7: ['POST', '/api/admin/projects/:projectId/features/:featureName/clone', 'cloneFlag'],
  8: ['DELETE', '/api/admin/projects/:projectId/features/:featureName', 'archiveFlag'],
  9: [
    'POST',
    '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies',
    'addStrategy',
  ],
  10: [
    'PUT',
    '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
    'updateStrategy',
  ],
  11: [
    'PATCH',
    '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
    'patchStrategy',
  ],
  12: [
    'DELETE',
    '/api/admin/projects/:projectId/features/:featureName/environments/:environment/strategies/:strategyId',
    'removeStrategy',
  ],
  13: ['POST', '/api/admin/projects/:projectId/features/:featureName/environments/:environment/on', 'enable'],
  14: ['POST', '/api/admin/projects/:projectId/features/:featureName/environments/:environment/off', 'disable'],
  15: ['PUT', '/api/admin/projects/:projectId/features/:featureName/variants', 'setVariants'],
  16: ['PATCH', '/api/admin/projects/:projectId/features/:featureName/variants', 'patchVariants'],
  17: ['POST', '/api/admin/projects/:projectId/users/:userId/roles/:roleId', 'addMember'],
  18: ['PUT', '/api/admin/projects/:projectId/users/:userId/roles/:roleId', 'changeMemberRole'],
  19: ['DELETE', '/api/admin/projects/:projectId/users/:userId/roles/:roleId', 'removeMember'],
  20: ['GET', '/api/admin/metrics/seen-toggles', 'listSeenFlags'],
  21: ['GET', '/api/admin/metrics/feature-toggles', 'countEvaluations'],
  22: ['GET', '/api/admin/metrics/applications', 'listApplications'],
  23: ['GET', '/api/admin/metrics/applications', 'listApplications'],
  24: ['GET', '/api/admin/metrics/applications/:appName', 'getApplication'],
  25: ['GET', '/api/admin/metrics/seen-apps', 'listApplicationsByFlag'],
} as const satisfies Readonly<Record<number, readonly [string, string, ActionName]>>;

export type EndpointNumber = keyof typeof ENDPOINTS;

/** One of the contract's endpoints by its number, or another route by its action. */
export type Endpoint = EndpointNumber | ActionName;

export function actionOf(endpoint: Endpoint): ActionName {
  return typeof endpoint === 'number' ? ENDPOINTS[endpoint][2] : endpoint;
}
