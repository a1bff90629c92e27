import type { Token } from '@flags/core';

/**
 * What a request does. `authorize` is asked about it, and the OpenAPI document calls the operation so. Where it is an
 * operation of the engine it bears that name. `useSegment` alone is no request: a strategy begins to use a segment.
 */
export type Action =
  | 'listProjects'
  | 'createProject'
  | 'getProject'
  | 'updateProject'
  | 'deleteProject'
  | 'listMembers'
  | 'addMember'
  | 'changeMemberRole'
  | 'removeMember'
  | 'listFlags'
  | 'createFlag'
  | 'getFlag'
  | 'updateFlag'
  | 'patchFlag'
  | 'cloneFlag'
  | 'archiveFlag'
  | 'listArchivedFlags'
  | 'listProjectArchivedFlags'
  | 'reviveFlag'
  | 'deleteFlag'
  | 'addStrategy'
  | 'updateStrategy'
  | 'patchStrategy'
  | 'removeStrategy'
  | 'enable'
  | 'disable'
  | 'setVariants'
  | 'patchVariants'
  | 'addDependency'
  | 'removeDependency'
  | 'removeDependencies'
  | 'listPossibleParents'
  | 'listSegments'
  | 'createSegment'
  | 'getSegment'
  | 'updateSegment'
  | 'deleteSegment'
  | 'listSegmentUses'
  | 'listStrategySegments'
  | 'useSegment'
  | 'listSeenFlags'
  | 'countEvaluations'
  | 'listApplications'
  | 'getApplication'
  | 'deleteApplication'
  | 'listApplicationsByFlag'
  | 'registerApplication'
  | 'reportMetrics'
  | 'listClientFlags'
  | 'getClientFlag'
  | 'streamClientFlags'
  | 'reportMetricsInBulk'
  | 'evaluateFlags'
  | 'evaluateFlagsForContext'
  | 'registerFrontend'
  | 'reportFrontendMetrics'
  | 'explainFlags'
  | 'resolveFlag'
  | 'resolveFlags'
  | 'listTokens'
  | 'createToken'
  | 'deleteToken'
  | 'listEvents'
  | 'listFlagEvents'
  | 'getOpenApi';

/** What a request may see. A token names it; callers without a token see everything. */
export interface Scope {
  /** Ids of projects; `*` is all of them. */
  readonly projects: '*' | readonly string[];
  /** The name of an environment; `*` is any. */
  readonly environment: string;
}

export const EVERYTHING: Scope = { projects: '*', environment: '*' };

export function scopeOf({ projects, environment }: Pick<Token, 'projects' | 'environment'>): Scope {
  return { projects: projects.includes('*') ? '*' : projects, environment };
}
