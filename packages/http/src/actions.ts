import type { AnyOperationName } from '@flags/core/integration/http';

/** The roles of users. Each includes the permissions of the previous one. */
export type UserRole = 'viewer' | 'editor' | 'admin';

/** The headers that a request takes, by what it writes. */
interface HeaderRules {
  /** The event log records the change, so a request may give a reason. */
  readonly isLogged: boolean;
  /** Changes may need approval, so a request may bypass it. The pipeline asks for the permission. */
  readonly takesBypass: boolean;
  /** A request may set the id of its change set or change request, so that a repeated request takes effect once. */
  readonly isRepeatable: boolean;
}

const RULES = {
  /** Flags, segments and projects, as clients may see them. */
  visible: { isLogged: true, takesBypass: true, isRepeatable: true },
  /**
   * Flags, segments and projects, but nothing that clients see: texts, flags that are new or revived, which are off, and
   * segments without strategies.
   */
  unseen: { isLogged: true, takesBypass: true, isRepeatable: true },
  /** The environments that need approval. */
  policy: { isLogged: true, takesBypass: true, isRepeatable: false },
  members: { isLogged: true, takesBypass: false, isRepeatable: true },
  // The secret of a token is shown once.
  tokens: { isLogged: true, takesBypass: false, isRepeatable: false },
  /** A change request, which is made or applied. */
  request: { isLogged: true, takesBypass: false, isRepeatable: true },
  /** A change request, which is decided or withdrawn. A repeated decision changes nothing. */
  decision: { isLogged: true, takesBypass: false, isRepeatable: false },
  /** Nothing, or data that the event log does not record: usage, applications and consumers. */
  nothing: { isLogged: false, takesBypass: false, isRepeatable: false },
} as const satisfies Readonly<Record<string, HeaderRules>>;

type Written = keyof typeof RULES;

/** An action that `authorize` is asked for. */
interface PermissionRow {
  /** The least role that may perform it. */
  readonly role: UserRole;
  /** `instance`: `authorize` gets null in place of a project. Default: it gets the project of the request. */
  readonly of?: 'instance';
  /** `sdk`: only SDKs request it. `change`: no request has its name; changes ask for it. Default: a request of the admin API. */
  readonly by?: 'sdk' | 'change';
  /** What a request writes. Default: `nothing`. */
  readonly writes?: Written;
  /** Only people may perform it: API tokens and anonymous callers never get the permission. */
  readonly people?: true;
  /** No request has its name: requests of other names need the permission. */
  readonly isShared?: true;
  /** The request may be repeated with the id in `Idempotency-Key`, and then counts once. */
  readonly takesBatchId?: true;
}

/** A request, or an operation of a change set, that needs the permission of another action. */
interface SharedRow {
  readonly as: string;
  /** Default: what the other action writes. */
  readonly writes?: Written;
  /** No request has its name: it is an operation of change sets, whose request has another name. */
  readonly by?: 'change';
}

/** A request that also callers without authentication may send. It asks for no permission. */
interface OpenRow {
  readonly open: true;
}

/**
 * Every request and every operation of a change set, by its unique name.
 *
 * - A viewer reads flags and their history, evaluates them, previews changes, and sees sums of usage. None of this
 *   shows tokens, members or personal data, and none of it writes.
 * - An editor also changes flags and segments. `deleteFlag` and `deleteSegment` are among the changes, because the undo
 *   of a creation deletes. An editor reads the data that this work needs: the events that keep the admin page up to
 *   date, exports with the members of projects, and contexts of real users for previews. Reports write usage, so a
 *   viewer may not send them.
 * - An admin also decides about projects, members and API tokens, deletes applications, and resets and
 *   deletes consumers.
 */
export const ACTIONS = {
  listProjects: { role: 'viewer', of: 'instance' },
  createProject: { role: 'admin', of: 'instance', writes: 'visible' },
  getProject: { role: 'viewer' },
  getProjectHealth: { as: 'getProject' },
  updateProject: { role: 'admin', writes: 'visible' },
  deleteProject: { role: 'admin', writes: 'visible' },
  listFlags: { role: 'viewer' },
  createFlag: { role: 'editor', writes: 'unseen' },
  getFlag: { role: 'viewer' },
  updateFlag: { role: 'editor', writes: 'unseen' },
  patchFlag: { role: 'editor', writes: 'unseen' },
  cloneFlag: { role: 'editor', writes: 'unseen' },
  archiveFlag: { role: 'editor', writes: 'visible' },
  searchFlags: { as: 'listFlags' },
  validateFlagName: { as: 'createFlag', writes: 'nothing' },
  listTags: { as: 'listFlags' },
  listTagTypes: { as: 'listFlags' },
  listFlagTags: { as: 'getFlag' },
  addFlagTag: { as: 'updateFlag' },
  updateFlagTags: { as: 'updateFlag' },
  removeFlagTag: { as: 'updateFlag' },
  listStrategies: { as: 'getFlag' },
  getStrategy: { as: 'getFlag' },
  updateStrategy: { role: 'editor', writes: 'visible' },
  orderStrategies: { as: 'updateStrategy' },
  addStrategy: { role: 'editor', writes: 'visible' },
  patchStrategy: { role: 'editor', writes: 'visible' },
  removeStrategy: { role: 'editor', writes: 'visible' },
  listEnvironments: { as: 'listFlags' },
  getFlagEnvironment: { as: 'getFlag' },
  enable: { role: 'editor', writes: 'visible' },
  disable: { role: 'editor', writes: 'visible' },
  listVariants: { as: 'getFlag' },
  setVariants: { role: 'editor', writes: 'visible' },
  patchVariants: { role: 'editor', writes: 'visible' },
  addDependency: { role: 'editor', writes: 'visible' },
  removeDependency: { role: 'editor', writes: 'visible' },
  removeDependencies: { role: 'editor', writes: 'visible' },
  listPossibleParents: { role: 'viewer' },
  listSegments: { role: 'viewer', of: 'instance' },
  createSegment: { role: 'editor', writes: 'unseen' },
  getSegment: { role: 'viewer' },
  updateSegment: { role: 'editor', writes: 'visible' },
  deleteSegment: { role: 'editor', writes: 'unseen' },
  listSegmentUses: { role: 'viewer' },
  listStrategySegments: { role: 'viewer', of: 'instance' },
  listMembers: { role: 'editor' },
  addMember: { role: 'admin', writes: 'members' },
  changeMemberRole: { role: 'admin', writes: 'members' },
  removeMember: { role: 'admin', writes: 'members' },
  listArchivedFlags: { role: 'viewer', of: 'instance' },
  listProjectArchivedFlags: { role: 'viewer' },
  reviveFlag: { role: 'editor', writes: 'unseen' },
  deleteFlag: { role: 'editor', writes: 'visible' },
  listSeenFlags: { role: 'viewer', of: 'instance' },
  countEvaluations: { role: 'viewer', of: 'instance' },
  listApplications: { role: 'viewer', of: 'instance' },
  // Shows the network addresses of instances.
  getApplication: { role: 'editor', of: 'instance' },
  // Cannot be undone.
  deleteApplication: { role: 'admin', of: 'instance' },
  deleteNamedApplication: { as: 'deleteApplication' },
  listApplicationsByFlag: { role: 'viewer', of: 'instance' },
  listUsage: { role: 'viewer', of: 'instance' },
  listFlagUsage: { role: 'viewer' },
  summarizeFlagUsage: { role: 'viewer' },
  listRawFlagUsage: { role: 'viewer' },
  // Events also reveal names and scopes of tokens, and members.
  listEvents: { role: 'editor' },
  listFlagEvents: { role: 'editor', of: 'instance' },
  searchEvents: { as: 'listEvents' },
  exportEvents: { as: 'listEvents' },
  streamEvents: { as: 'listEvents' },
  listChangeRequests: { role: 'viewer' },
  createChangeRequest: { role: 'editor', writes: 'request' },
  getChangeRequest: { role: 'viewer' },
  decideChangeRequest: { role: 'editor', writes: 'decision', people: true, isShared: true },
  approveChangeRequest: { as: 'decideChangeRequest' },
  rejectChangeRequest: { as: 'decideChangeRequest' },
  withdrawChangeRequest: { role: 'editor', writes: 'decision' },
  applyChangeRequest: { role: 'editor', writes: 'request' },
  getApprovalPolicy: { role: 'viewer' },
  // Decides what others need.
  changeApprovalPolicy: { role: 'admin', of: 'instance', writes: 'policy', people: true },
  listRollouts: { role: 'viewer' },
  changeRollout: { role: 'editor', writes: 'visible', isShared: true },
  startRollout: { as: 'changeRollout' },
  stopRollout: { as: 'changeRollout' },
  pauseRollout: { as: 'changeRollout' },
  resumeRollout: { as: 'changeRollout' },
  advanceRollout: { as: 'changeRollout' },
  listConsumers: { role: 'editor', of: 'instance' },
  // Both decide which events other systems get, and cannot be undone.
  resetConsumer: { role: 'admin', of: 'instance' },
  deleteConsumer: { role: 'admin', of: 'instance' },
  listTokens: { role: 'admin', of: 'instance' },
  createToken: { role: 'admin', of: 'instance', writes: 'tokens' },
  rotateToken: { role: 'admin', of: 'instance', writes: 'tokens' },
  // A caller who may rotate a token can already delete it, and create another one with any expiry.
  updateToken: { as: 'rotateToken' },
  deleteToken: { role: 'admin', of: 'instance', writes: 'tokens' },
  explainFlags: { role: 'viewer', of: 'instance' },
  listRecentContexts: { role: 'editor', of: 'instance' },
  listClientFlags: { role: 'viewer', by: 'sdk' },
  getClientFlag: { role: 'viewer', by: 'sdk' },
  streamClientFlags: { role: 'viewer', by: 'sdk' },
  registerApplication: { role: 'editor', by: 'sdk' },
  reportMetrics: { role: 'editor', by: 'sdk' },
  reportMetricsInBulk: { role: 'editor', by: 'sdk', takesBatchId: true },
  // Shows the scopes of tokens to those who have their secrets.
  verifyTokens: { role: 'editor', by: 'sdk' },
  registerFrontend: { role: 'editor', by: 'sdk' },
  reportFrontendMetrics: { role: 'editor', by: 'sdk' },
  evaluateFlags: { role: 'viewer', by: 'sdk' },
  evaluateFlagsForContext: { role: 'viewer', by: 'sdk' },
  resolveFlag: { role: 'viewer', by: 'sdk' },
  resolveFlags: { role: 'viewer', by: 'sdk' },
  // A page that may evaluate flags may hear that they have changed: it would otherwise try again every second.
  streamRefetches: { as: 'resolveFlags' },
  applyChanges: { role: 'editor', writes: 'visible' },
  previewChanges: { role: 'viewer' },
  planChanges: { as: 'previewChanges' },
  getChange: { role: 'viewer' },
  undoChange: { role: 'editor', writes: 'visible' },
  planUndo: { as: 'previewChanges' },
  previewUndo: { as: 'previewChanges' },
  listHistory: { role: 'viewer' },
  listProjectHistory: { as: 'listHistory' },
  listFlagHistory: { as: 'listHistory' },
  exportDefinitions: { role: 'editor' },
  importDefinitions: { role: 'editor', writes: 'visible' },
  listFlagTypes: { as: 'listFlags' },
  listStrategyTypes: { as: 'listFlags' },
  getStrategyType: { as: 'listFlags' },
  listContextFields: { as: 'listFlags' },
  listPermissions: { as: 'listFlags' },
  validateSegmentName: { as: 'createSegment', writes: 'nothing' },
  validateConstraint: { as: 'previewChanges' },
  setStrategySegments: { as: 'updateStrategy' },
  setStaleFlags: { as: 'updateFlag' },
  getSession: { open: true },
  getOpenApi: { role: 'viewer', of: 'instance' },
  /** Let a strategy start to use a segment; asked in the project of the segment */
  useSegment: { role: 'editor', by: 'change' },
  /** Replace the configuration of a flag in one environment, in a change set */
  configureEnvironment: { role: 'editor', by: 'change', writes: 'visible' },
  /** Move a flag to another project, in a change set, an import or an undo */
  moveFlag: { role: 'editor', by: 'change', writes: 'visible' },
  /** Change without the approval that the change needs */
  bypassApproval: { role: 'admin', by: 'change', people: true },
  changeLabels: { as: 'updateFlag', by: 'change' },
  setApprovalPolicy: { as: 'changeApprovalPolicy', by: 'change' },
  undoChangeSet: { as: 'undoChange', by: 'change' },
} as const satisfies Readonly<Record<string, PermissionRow | SharedRow | OpenRow>> &
  Readonly<Record<Exclude<AnyOperationName, WithoutRequest>, object>>;

/** The operations whose names no request has: requests of other names run them, or only programs do. */
type WithoutRequest = Existing<
  | 'apply'
  | 'consume'
  | 'getChangeSet'
  | 'listChangeSetProjects'
  | 'listNextEvents'
  | 'locateFlag'
  | 'plan'
  | 'preview'
  | 'runDue'
  | 'verifyToken'
>;

type Existing<Name extends AnyOperationName> = Name;

type Rows = typeof ACTIONS;

/** The name of a request or of an operation of a change set. */
export type ActionName = keyof Rows;

/** The name of a request. */
export type RequestName = {
  [Name in ActionName]: Rows[Name] extends { readonly by: 'change' } | { readonly isShared: true } ? never : Name;
}[ActionName];

/**
 * The action of a request, as `authorize` and the OpenAPI document name it. Actions that run an engine operation have
 * its name. Four are not requests: `useSegment` checks whether a strategy may start to use a segment, `bypassApproval`
 * whether a change may do without approval, and `moveFlag` and `configureEnvironment` are changes of a change set.
 */
export type Action = { [Name in ActionName]: Rows[Name] extends PermissionRow ? Name : never }[ActionName];

/** The rows of the actions that `authorize` is asked for, in the order of {@link ACTIONS}. */
export const PERMISSION_ROWS = Object.entries<PermissionRow | SharedRow | OpenRow>(ACTIONS).flatMap(
  ([name, row]): (readonly [Action, PermissionRow])[] => ('role' in row ? [[name as Action, row]] : []),
);

type PermissionOf<Name extends ActionName> = Name extends ActionName
  ? Rows[Name] extends { readonly as: infer Other extends Action }
    ? Other
    : Extract<Name, Action> | (Rows[Name] extends OpenRow ? undefined : never)
  : never;

/** Returns the action that `authorize` is asked for; undefined for open requests. */
export function permissionOf<Name extends ActionName>(name: Name): PermissionOf<Name> {
  const row: PermissionRow | SharedRow | OpenRow = ACTIONS[name];
  const permission = 'as' in row ? row.as : 'role' in row ? name : undefined;
  return permission as PermissionOf<Name>;
}

/** Returns the action of an operation that an event names. A newer core may have operations without a row. */
export function permissionOfOperation(operation: string): Action {
  return (Object.hasOwn(ACTIONS, operation) && permissionOf(operation as ActionName)) || (operation as Action);
}

/** Returns what a request or an operation writes. */
export function writtenBy(name: ActionName): Written {
  const row: PermissionRow | SharedRow | OpenRow = ACTIONS[name];
  if ('open' in row) return 'nothing';
  return row.writes ?? ('as' in row ? writtenBy(row.as as Action) : 'nothing');
}

/** Returns the rules for the headers of a request. */
export function headerRulesOf({ action }: { readonly action: ActionName }): HeaderRules {
  return RULES[writtenBy(action)];
}
