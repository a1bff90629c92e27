import type { Token } from '@flags/core';

/**
 * The action of a request, as `authorize` and the OpenAPI document name it. Actions that run an engine operation have
 * its name. Three are not requests: `useSegment` checks whether a strategy may start to use a segment, and `moveFlag` and
 * `configureEnvironment` are changes of a change set.
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
  | 'listRecentContexts'
  | 'resolveFlag'
  | 'resolveFlags'
  | 'listTokens'
  | 'createToken'
  | 'rotateToken'
  | 'deleteToken'
  | 'listEvents'
  | 'listFlagEvents'
  | 'applyChanges'
  | 'previewChanges'
  | 'getChange'
  | 'undoChange'
  | 'listHistory'
  | 'exportDefinitions'
  | 'importDefinitions'
  | 'moveFlag'
  | 'configureEnvironment'
  | 'getOpenApi';

/** The unique name of a route in the OpenAPI document. It differs from the action where routes share a permission. */
export type Operation =
  | Action
  | 'getSession'
  | 'streamEvents'
  | 'searchFlags'
  | 'validateFlagName'
  | 'getProjectHealth'
  | 'listEnvironments'
  | 'getFlagEnvironment'
  | 'listStrategies'
  | 'getStrategy'
  | 'orderStrategies'
  | 'listVariants'
  | 'updateToken'
  | 'listFlagTags'
  | 'addFlagTag'
  | 'updateFlagTags'
  | 'removeFlagTag'
  | 'listTags'
  | 'listTagTypes'
  | 'planChanges'
  | 'planUndo'
  | 'listProjectHistory'
  | 'listFlagHistory';

/** A part of the API. `ofrep` accepts the tokens of `client` and `frontend`. */
export type Access = 'admin' | 'client' | 'frontend' | 'ofrep';

/** The projects and environments that a request may see. Callers without a token see all of them. */
export interface Scope {
  /** Project ids; `*` means all projects. */
  readonly projects: '*' | readonly string[];
  /** The name of an environment; `*` means all environments. */
  readonly environment: string;
}

/** An authenticated caller. */
export interface Principal {
  readonly name: string;
  readonly scope: Scope;
  /** The API token of the caller. */
  readonly token?: Token | undefined;
  /** Authentication refused the caller. Only open routes answer it. */
  readonly isOutsider?: true;
  /** Resolves when the caller has the permission. Otherwise rejects with `forbidden`. */
  check(action: Action, project: string | null): Promise<void>;
  /** Checks again whether the caller may do this. The token may have expired, or the permission may be gone. */
  isStillAllowed(action: Action, project: string | null): Promise<boolean>;
  /** Reports whether the token is still valid. Absent when the request carries no token secret. */
  readonly hasValidToken?: (() => Promise<boolean>) | undefined;
}
