import type { Token } from '@flags/core';

/**
 * The action of a request, as `authorize` and the OpenAPI document name it. Actions that run an engine operation have
 * its name. `useSegment` is not a request: it checks whether a strategy may start to use a segment.
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
  | 'listUsage'
  | 'listFlagUsage'
  | 'summarizeFlagUsage'
  | 'listRawFlagUsage'
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

/** The projects and environments that a request may see. Callers without a token see all of them. */
export interface Scope {
  /** Project ids; `*` means all projects. */
  readonly projects: '*' | readonly string[];
  /** The name of an environment; `*` means all environments. */
  readonly environment: string;
}

export const EVERYTHING: Scope = { projects: '*', environment: '*' };

export function scopeOf({ projects, environment }: Pick<Token, 'projects' | 'environment'>): Scope {
  return { projects: projects.includes('*') ? '*' : projects, environment };
}
