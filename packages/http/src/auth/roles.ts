/** The roles of {@link roles}. Each includes the permissions of the previous one. */
export type UserRole = 'viewer' | 'editor' | 'admin';

/**
 * The minimum role of every action.
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
export const LEAST_ROLE = {
  listProjects: 'viewer',
  createProject: 'admin',
  getProject: 'viewer',
  updateProject: 'admin',
  deleteProject: 'admin',
  listMembers: 'editor',
  addMember: 'admin',
  changeMemberRole: 'admin',
  removeMember: 'admin',
  listFlags: 'viewer',
  createFlag: 'editor',
  getFlag: 'viewer',
  updateFlag: 'editor',
  patchFlag: 'editor',
  cloneFlag: 'editor',
  archiveFlag: 'editor',
  listArchivedFlags: 'viewer',
  listProjectArchivedFlags: 'viewer',
  reviveFlag: 'editor',
  deleteFlag: 'editor',
  moveFlag: 'editor',
  addStrategy: 'editor',
  updateStrategy: 'editor',
  patchStrategy: 'editor',
  removeStrategy: 'editor',
  enable: 'editor',
  disable: 'editor',
  configureEnvironment: 'editor',
  setVariants: 'editor',
  patchVariants: 'editor',
  addDependency: 'editor',
  removeDependency: 'editor',
  removeDependencies: 'editor',
  listPossibleParents: 'viewer',
  listSegments: 'viewer',
  createSegment: 'editor',
  getSegment: 'viewer',
  updateSegment: 'editor',
  deleteSegment: 'editor',
  listSegmentUses: 'viewer',
  listStrategySegments: 'viewer',
  useSegment: 'editor',
  listSeenFlags: 'viewer',
  countEvaluations: 'viewer',
  listUsage: 'viewer',
  listFlagUsage: 'viewer',
  summarizeFlagUsage: 'viewer',
  listRawFlagUsage: 'viewer',
  listApplications: 'viewer',
  listApplicationsByFlag: 'viewer',
  // Shows the network addresses of instances.
  getApplication: 'editor',
  // Cannot be undone.
  deleteApplication: 'admin',
  registerApplication: 'editor',
  reportMetrics: 'editor',
  reportMetricsInBulk: 'editor',
  // Shows the scopes of tokens to those who have their secrets.
  verifyTokens: 'editor',
  registerFrontend: 'editor',
  reportFrontendMetrics: 'editor',
  listClientFlags: 'viewer',
  getClientFlag: 'viewer',
  streamClientFlags: 'viewer',
  evaluateFlags: 'viewer',
  evaluateFlagsForContext: 'viewer',
  resolveFlag: 'viewer',
  resolveFlags: 'viewer',
  explainFlags: 'viewer',
  listRecentContexts: 'editor',
  listTokens: 'admin',
  createToken: 'admin',
  rotateToken: 'admin',
  deleteToken: 'admin',
  // Events also reveal names and scopes of tokens, and members.
  listEvents: 'editor',
  listFlagEvents: 'editor',
  listConsumers: 'editor',
  // Both decide which events other systems get, and cannot be undone.
  resetConsumer: 'admin',
  deleteConsumer: 'admin',
  applyChanges: 'editor',
  previewChanges: 'viewer',
  getChange: 'viewer',
  undoChange: 'editor',
  listChangeRequests: 'viewer',
  getChangeRequest: 'viewer',
  createChangeRequest: 'editor',
  decideChangeRequest: 'editor',
  withdrawChangeRequest: 'editor',
  applyChangeRequest: 'editor',
  getApprovalPolicy: 'viewer',
  // Decides what others need.
  changeApprovalPolicy: 'admin',
  bypassApproval: 'admin',
  listRollouts: 'viewer',
  changeRollout: 'editor',
  listHistory: 'viewer',
  exportDefinitions: 'editor',
  importDefinitions: 'editor',
  getOpenApi: 'viewer',
} as const satisfies Readonly<Record<string, UserRole>>;

/**
 * The action of a request, as `authorize` and the OpenAPI document name it. Actions that run an engine operation have
 * its name. Four are not requests: `useSegment` checks whether a strategy may start to use a segment, `bypassApproval`
 * whether a change may do without approval, and `moveFlag` and `configureEnvironment` are changes of a change set.
 */
export type Action = keyof typeof LEAST_ROLE;

/** The actions of people: API tokens and anonymous callers never get the permission. */
export const OF_PEOPLE: ReadonlySet<Action> = new Set<Action>([
  'decideChangeRequest',
  'changeApprovalPolicy',
  'bypassApproval',
]);

function actionsUpTo(...included: readonly UserRole[]): (action: Action) => boolean {
  const actions = new Set<string>();
  for (const [action, role] of Object.entries(LEAST_ROLE)) if (included.includes(role)) actions.add(action);
  return (action) => actions.has(action);
}

/**
 * Ready-made answers for `authorize`: whether a role may perform an action. Actions that this release does not know are
 * refused.
 *
 * A role says nothing about projects: choose the role of the user in the project that `authorize` names. A null project
 * is the whole instance, so a role there is a role everywhere.
 *
 * @example
 * authorize: (actor, action) => isApiToken(actor) || roles[actor.role](action)
 */
export const roles: Readonly<Record<UserRole, (action: Action) => boolean>> = Object.freeze({
  // Without prototype, a role such as `constructor` is absent.
  __proto__: null,
  viewer: actionsUpTo('viewer'),
  editor: actionsUpTo('viewer', 'editor'),
  admin: actionsUpTo('viewer', 'editor', 'admin'),
});
