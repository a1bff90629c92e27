import type { Flags } from '@flags/core';
import { parameter } from './query.js';
import type { QueryParameter } from './route.js';

export const PROJECTS = '/api/admin/projects';
export const PROJECT = `${PROJECTS}/:projectId`;
export const FLAGS = `${PROJECT}/features`;
export const FLAG = `${FLAGS}/:featureName`;
export const ENVIRONMENT = `${FLAG}/environments/:environment`;
export const STRATEGIES = `${ENVIRONMENT}/strategies`;
export const STRATEGY_ORDER = `${STRATEGIES}/set-sort-order`;
export const STRATEGY = `${STRATEGIES}/:strategyId`;
export const VARIANTS = `${FLAG}/variants`;
export const ENVIRONMENT_VARIANTS = `${ENVIRONMENT}/variants`;
export const DEPENDENCIES = `${FLAG}/dependencies`;
export const FEATURES = '/api/admin/features';
export const FEATURE = `${FEATURES}/:featureName`;
export const USERS = `${PROJECT}/users`;
export const USER_ROLE = `${USERS}/:userId/roles/:roleId`;
export const ARCHIVE = '/api/admin/archive';
export const CHANGES = '/api/admin/changes';
export const SEGMENTS = '/api/admin/segments';
export const SEGMENT = `${SEGMENTS}/:segmentId`;
export const METRICS = '/api/admin/metrics';
export const USAGE = `${METRICS}/usage`;
export const CLIENT_METRICS = '/api/admin/client-metrics/features/:featureName';
export const APPLICATIONS = `${METRICS}/applications`;
export const CONSUMERS = '/api/admin/consumers';
export const CONSUMER = `${CONSUMERS}/:name`;
export const CHANGE_REQUESTS = '/api/admin/change-requests';
export const CHANGE_REQUEST = `${CHANGE_REQUESTS}/:changeRequestId`;
export const ROLLOUTS = '/api/admin/rollouts';
export const ROLLOUT = `${STRATEGY}/rollout`;
export const APPROVAL_POLICY = '/api/admin/approval-policy';
export const EVENTS = '/api/admin/events';
export const TOKENS = '/api/admin/api-tokens';
export const TOKEN = `${TOKENS}/:token`;
export const CLIENT = '/api/client';
export const FRONTEND = '/api/frontend';
export const OFREP_FLAGS = '/ofrep/v1/evaluate/flags';
export const OFREP_STREAM = '/ofrep/v1/event-stream';

/** Returns the project of a flag whose path omits the project. */
export async function projectOfFlag(
  flags: Flags,
  { featureName = '' }: Readonly<Record<string, string>>,
): Promise<string> {
  return (await flags.locateFlag({ flag: featureName })).project;
}

export const ENVIRONMENT_PARAMETER = parameter(
  'environment',
  'The environment, unless the token determines it. Default: the environment of the instance.',
);

/** The query parameter that selects flags by tags. */
export const TAG_PARAMETER = parameter(
  'tag',
  'Only flags that have one of these tags, each as `type:value`, such as `simple:team-shop`.',
  { type: 'array', items: { type: 'string', pattern: '^\\w+:', maxLength: 200 }, maxItems: 20 },
);

/** The query parameters that narrow the view of a client. */
export const VIEW_PARAMETERS: readonly QueryParameter[] = [
  ENVIRONMENT_PARAMETER,
  parameter('project', 'Only flags of these projects, as far as the token permits. Default: all.', {
    type: 'array',
    items: { type: 'string', maxLength: 100 },
    maxItems: 100,
  }),
  parameter('namePrefix', 'Only flags whose names start with this text.', { type: 'string', maxLength: 100 }),
  TAG_PARAMETER,
];
