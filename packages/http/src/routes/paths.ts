import {
  type EnvironmentRef,
  type FlagRef,
  type Flags,
  FlagsError,
  type ProjectRef,
  type SegmentRef,
  type StrategyRef,
} from '@flags/core';
import { invalidInput } from '../errors.js';
import type { QueryParameter } from '../route.js';

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
export const SEGMENTS = '/api/admin/segments';
export const SEGMENT = `${SEGMENTS}/:segmentId`;
export const METRICS = '/api/admin/metrics';
export const USAGE = `${METRICS}/usage`;
export const CLIENT_METRICS = '/api/admin/client-metrics/features/:featureName';
export const APPLICATIONS = `${METRICS}/applications`;
export const EVENTS = '/api/admin/events';
export const TOKENS = '/api/admin/api-tokens';
export const TOKEN = `${TOKENS}/:token`;
export const CLIENT = '/api/client';
export const FRONTEND = '/api/frontend';
export const OFREP_FLAGS = '/ofrep/v1/evaluate/flags';

/** Parses a positive integer in a path. Returns undefined for leading zeros and unsafe integers. */
export function positiveInteger(text: string): number | undefined {
  const number = /^[1-9]\d*$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : undefined;
}

type Params<Name extends string> = Readonly<Record<Name, string>>;

export function projectRef(params: Params<'projectId'>): ProjectRef {
  return { project: params.projectId };
}

export function flagRef(params: Params<'projectId' | 'featureName'>): FlagRef {
  return { ...projectRef(params), flag: params.featureName };
}

export function environmentRef(params: Params<'projectId' | 'featureName' | 'environment'>): EnvironmentRef {
  return { ...flagRef(params), environment: params.environment };
}

export function strategyRef(params: Params<'projectId' | 'featureName' | 'environment' | 'strategyId'>): StrategyRef {
  return { ...environmentRef(params), strategy: params.strategyId };
}

export function segmentRef({ segmentId }: Params<'segmentId'>): SegmentRef {
  const segment = positiveInteger(segmentId);
  if (segment === undefined) throw invalidInput([{ message: 'must be a positive integer', path: '/segmentId' }]);
  return { segment };
}

/**
 * Returns the reference to a flag whose path omits the project. The reference uses the project of the permission check,
 * because the flag may have moved since.
 */
export function flagInProject({ featureName }: Params<'featureName'>, project: string | null): FlagRef {
  if (project !== null) return { project, flag: featureName };
  throw new FlagsError('flag_not_found', `There is no flag ${featureName}; create it, or list the flags.`);
}

/** Returns the project of a flag whose path omits the project. */
export async function projectOfFlag(
  flags: Flags,
  { featureName = '' }: Readonly<Record<string, string>>,
): Promise<string> {
  return (await flags.locateFlag({ flag: featureName })).project;
}

export const ENVIRONMENT_PARAMETER: QueryParameter = {
  name: 'environment',
  description: 'The environment, where no token names it; the one of the instance when absent.',
  schema: () => ({ type: 'string' }),
};

/** The query parameter that selects flags by tags. */
export const TAG_PARAMETER: QueryParameter = {
  name: 'tag',
  description: 'Only flags that have one of these tags, each as type:value, such as simple:team-shop.',
  schema: () => ({ type: 'array', items: { type: 'string', pattern: '^\\w+:', maxLength: 200 }, maxItems: 20 }),
};

/** The query parameters that narrow the view of a client. */
export const VIEW_PARAMETERS: readonly QueryParameter[] = [
  ENVIRONMENT_PARAMETER,
  {
    name: 'project',
    description: 'Only flags of these projects, within what the token admits to; all when absent.',
    schema: () => ({ type: 'array', items: { type: 'string', maxLength: 100 }, maxItems: 100 }),
  },
  {
    name: 'namePrefix',
    description: 'Only flags whose names begin so.',
    schema: () => ({ type: 'string', maxLength: 100 }),
  },
  TAG_PARAMETER,
];
