import type * as api from './types.js';

const PROJECT = '/api/admin/projects/:project';
const FLAG = `${PROJECT}/features/:flag`;
const REQUEST = '/api/admin/change-requests/:request';

/**
 * A request: its method and path, whether no event reports changes of the reply, and the type of the reply's body. Such
 * replies change all the time, or with the caller's token: a change of the page does not reload them.
 */
type Action<Reply> = readonly [method: string, path: string, events?: 'unreported', reply?: Reply];

/** The requests of the page, by the action that `authorize` knows. */
export const ACTIONS = {
  getSession: ['GET', '/api/admin/session', 'unreported'] as Action<api.Session>,
  listProjects: ['GET', '/api/admin/projects'] as Action<{ readonly projects: readonly api.Project[] }>,
  getProject: ['GET', PROJECT] as Action<unknown>,
  listAllFlags: ['GET', '/api/admin/features'] as Action<api.FlagPage>,
  getFlag: ['GET', FLAG] as Action<api.FlagDetail>,
  listProjectArchivedFlags: ['GET', '/api/admin/archive/features/:project'] as Action<{
    readonly features: readonly (api.ListedFlag & { readonly archivedAt: string })[];
  }>,
  listSegments: ['GET', '/api/admin/segments'] as Action<{ readonly segments: readonly api.Segment[] }>,
  getSegment: ['GET', '/api/admin/segments/:segment'] as Action<api.Segment>,
  listSegmentUses: ['GET', '/api/admin/segments/:segment/strategies'] as Action<{
    readonly strategies: readonly api.SegmentUse[];
  }>,
  listMembers: ['GET', `${PROJECT}/users`] as Action<api.MemberList>,
  listTokens: ['GET', '/api/admin/api-tokens'] as Action<{ readonly tokens: readonly api.Token[] }>,
  createToken: ['POST', '/api/admin/api-tokens'] as Action<api.CreatedToken>,
  rotateToken: ['POST', '/api/admin/api-tokens/rotate'] as Action<api.CreatedToken>,
  deleteToken: ['DELETE', '/api/admin/api-tokens/:token'] as Action<undefined>,
  listApplications: ['GET', '/api/admin/metrics/applications'] as Action<{
    readonly applications: readonly api.ApplicationSummary[];
  }>,
  getApplication: ['GET', '/api/admin/metrics/applications/:application'] as Action<api.ApplicationDetail>,
  deleteApplication: ['DELETE', '/api/admin/metrics/applications/:application'] as Action<undefined>,
  listPossibleParents: ['GET', `${FLAG}/parents`] as Action<readonly string[]>,
  listHistory: ['GET', '/api/admin/history'] as Action<api.HistoryPage>,
  listProjectHistory: ['GET', `${PROJECT}/history`] as Action<api.HistoryPage>,
  listFlagHistory: ['GET', `${FLAG}/history`] as Action<api.HistoryPage>,
  listEvents: ['GET', '/api/admin/events'] as Action<{
    readonly events: readonly api.WireEvent[];
    readonly totalEvents: number;
  }>,
  exportEvents: ['GET', '/api/admin/event-export'] as Action<never>,
  listConsumers: ['GET', '/api/admin/consumers', 'unreported'] as Action<{
    readonly consumers: readonly api.Consumer[];
  }>,
  resetConsumer: ['POST', '/api/admin/consumers/:consumer/reset'] as Action<undefined>,
  deleteConsumer: ['DELETE', '/api/admin/consumers/:consumer'] as Action<undefined>,
  listUsage: ['GET', '/api/admin/metrics/usage', 'unreported'] as Action<{ readonly usage: readonly api.UsageRow[] }>,
  listFlagUsage: ['GET', '/api/admin/metrics/usage/:flag', 'unreported'] as Action<{
    readonly usage: readonly api.UsageRow[];
  }>,
  listApplicationsByFlag: ['GET', '/api/admin/metrics/seen-apps'] as Action<
    Readonly<Record<string, readonly api.Application[]>>
  >,
  explainFlags: ['POST', '/api/admin/playground'] as Action<api.Playground>,
  listRecentContexts: ['GET', '/api/admin/contexts'] as Action<{ readonly contexts: readonly api.Context[] }>,
  applyChanges: ['POST', '/api/admin/changes'] as Action<api.ChangeSet>,
  planChanges: ['POST', '/api/admin/changes/plan'] as Action<api.Plan>,
  previewChanges: ['POST', '/api/admin/changes/preview'] as Action<{ readonly flags: readonly api.PreviewedFlag[] }>,
  getChangeSet: ['GET', '/api/admin/changes/:id'] as Action<api.HistoryEntry>,
  undoChange: ['POST', '/api/admin/changes/:id/undo'] as Action<api.ChangeSet>,
  previewUndo: ['POST', '/api/admin/changes/:id/undo/preview'] as Action<{
    readonly flags: readonly api.PreviewedFlag[];
  }>,
  listRollouts: ['GET', '/api/admin/rollouts'] as Action<api.RolloutPage>,
  getApprovalPolicy: ['GET', '/api/admin/approval-policy'] as Action<api.ApprovalPolicy>,
  changeApprovalPolicy: ['PUT', '/api/admin/approval-policy'] as Action<api.ApprovalPolicy>,
  listChangeRequests: ['GET', '/api/admin/change-requests'] as Action<api.ChangeRequestPage>,
  createChangeRequest: ['POST', '/api/admin/change-requests'] as Action<api.ChangeRequest>,
  getChangeRequest: ['GET', REQUEST] as Action<api.ChangeRequest>,
  approveChangeRequest: ['POST', `${REQUEST}/approve`] as Action<api.ChangeRequest>,
  rejectChangeRequest: ['POST', `${REQUEST}/reject`] as Action<api.ChangeRequest>,
  withdrawChangeRequest: ['POST', `${REQUEST}/withdraw`] as Action<api.ChangeRequest>,
  applyChangeRequest: ['POST', `${REQUEST}/apply`] as Action<api.ChangeRequest>,
  planUndo: ['POST', '/api/admin/changes/:id/undo/plan'] as Action<api.Plan>,
};

export type ActionName = keyof typeof ACTIONS;

/** The body of each action's reply. */
export type Replies = {
  readonly [A in ActionName]: (typeof ACTIONS)[A] extends Action<infer Reply> ? Reply : never;
};
