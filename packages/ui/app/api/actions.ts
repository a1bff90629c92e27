import type {
  Application,
  ApplicationDetail,
  ApplicationSummary,
  ChangeSet,
  Context,
  CreatedToken,
  FlagDetail,
  FlagPage,
  HistoryEntry,
  HistoryPage,
  ListedFlag,
  MemberList,
  Plan,
  Playground,
  PreviewedFlag,
  Project,
  Segment,
  SegmentUse,
  Session,
  Token,
  UsageRow,
  WireEvent,
} from './types.js';

const PROJECT = '/api/admin/projects/:project';
const FLAG = `${PROJECT}/features/:flag`;

/** The requests of the page, by the action that `authorize` knows. */
export const ACTIONS = {
  getSession: ['GET', '/api/admin/session'],
  listProjects: ['GET', '/api/admin/projects'],
  getProject: ['GET', PROJECT],
  listAllFlags: ['GET', '/api/admin/features'],
  getFlag: ['GET', FLAG],
  listProjectArchivedFlags: ['GET', '/api/admin/archive/features/:project'],
  listSegments: ['GET', '/api/admin/segments'],
  getSegment: ['GET', '/api/admin/segments/:segment'],
  listSegmentUses: ['GET', '/api/admin/segments/:segment/strategies'],
  listMembers: ['GET', `${PROJECT}/users`],
  listTokens: ['GET', '/api/admin/api-tokens'],
  createToken: ['POST', '/api/admin/api-tokens'],
  rotateToken: ['POST', '/api/admin/api-tokens/rotate'],
  deleteToken: ['DELETE', '/api/admin/api-tokens/:token'],
  listApplications: ['GET', '/api/admin/metrics/applications'],
  getApplication: ['GET', '/api/admin/metrics/applications/:application'],
  deleteApplication: ['DELETE', '/api/admin/metrics/applications/:application'],
  listPossibleParents: ['GET', `${FLAG}/parents`],
  listHistory: ['GET', '/api/admin/history'],
  listProjectHistory: ['GET', `${PROJECT}/history`],
  listFlagHistory: ['GET', `${FLAG}/history`],
  listEvents: ['GET', '/api/admin/events'],
  listUsage: ['GET', '/api/admin/metrics/usage'],
  listFlagUsage: ['GET', '/api/admin/metrics/usage/:flag'],
  listApplicationsByFlag: ['GET', '/api/admin/metrics/seen-apps'],
  explainFlags: ['POST', '/api/admin/playground'],
  listRecentContexts: ['GET', '/api/admin/contexts'],
  applyChanges: ['POST', '/api/admin/changes'],
  planChanges: ['POST', '/api/admin/changes/plan'],
  previewChanges: ['POST', '/api/admin/changes/preview'],
  getChangeSet: ['GET', '/api/admin/changes/:id'],
  undoChange: ['POST', '/api/admin/changes/:id/undo'],
  planUndo: ['POST', '/api/admin/changes/:id/undo/plan'],
} as const satisfies Record<string, readonly [method: string, path: string]>;

export type ActionName = keyof typeof ACTIONS;

/** The body of each action's reply. */
export interface Replies {
  getSession: Session;
  listProjects: { readonly projects: readonly Project[] };
  getProject: unknown;
  listAllFlags: FlagPage;
  getFlag: FlagDetail;
  listProjectArchivedFlags: { readonly features: readonly (ListedFlag & { readonly archivedAt: string | null })[] };
  listSegments: { readonly segments: readonly Segment[] };
  getSegment: Segment;
  listSegmentUses: { readonly strategies: readonly SegmentUse[] };
  listMembers: MemberList;
  listTokens: { readonly tokens: readonly Token[] };
  createToken: CreatedToken;
  rotateToken: CreatedToken;
  deleteToken: undefined;
  listApplications: { readonly applications: readonly ApplicationSummary[] };
  getApplication: ApplicationDetail;
  deleteApplication: undefined;
  listPossibleParents: readonly string[];
  listHistory: HistoryPage;
  listProjectHistory: HistoryPage;
  listFlagHistory: HistoryPage;
  listEvents: { readonly events: readonly WireEvent[]; readonly totalEvents: number };
  listUsage: { readonly usage: readonly UsageRow[] };
  listFlagUsage: { readonly usage: readonly UsageRow[] };
  listApplicationsByFlag: Readonly<Record<string, readonly Application[]>>;
  explainFlags: Playground;
  listRecentContexts: { readonly contexts: readonly Context[] };
  applyChanges: ChangeSet;
  planChanges: Plan;
  previewChanges: { readonly flags: readonly PreviewedFlag[] };
  getChangeSet: HistoryEntry;
  undoChange: ChangeSet;
  planUndo: Plan;
}
