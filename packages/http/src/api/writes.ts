import type { Action, LEAST_ROLE } from '../auth/roles.js';
import type { Route, Written } from './route.js';

/*
 * What a request writes decides which headers it takes. Every action beyond those of viewers has a row here.
 */

/** Viewers write nothing. */
type ViewerAction = { [Name in Action]: (typeof LEAST_ROLE)[Name] extends 'viewer' ? Name : never }[Action];

const WRITTEN: Readonly<Record<Exclude<Action, ViewerAction>, Written>> = {
  createProject: 'visible',
  updateProject: 'visible',
  deleteProject: 'visible',
  listMembers: 'nothing',
  addMember: 'members',
  changeMemberRole: 'members',
  removeMember: 'members',
  createFlag: 'unseen',
  updateFlag: 'unseen',
  patchFlag: 'unseen',
  cloneFlag: 'unseen',
  archiveFlag: 'visible',
  reviveFlag: 'unseen',
  deleteFlag: 'visible',
  moveFlag: 'visible',
  addStrategy: 'visible',
  updateStrategy: 'visible',
  patchStrategy: 'visible',
  removeStrategy: 'visible',
  enable: 'visible',
  disable: 'visible',
  configureEnvironment: 'visible',
  setVariants: 'visible',
  patchVariants: 'visible',
  addDependency: 'visible',
  removeDependency: 'visible',
  removeDependencies: 'visible',
  createSegment: 'unseen',
  updateSegment: 'visible',
  deleteSegment: 'unseen',
  useSegment: 'nothing',
  getApplication: 'nothing',
  deleteApplication: 'unlogged',
  registerApplication: 'unlogged',
  reportMetrics: 'unlogged',
  reportMetricsInBulk: 'unlogged',
  verifyTokens: 'nothing',
  registerFrontend: 'unlogged',
  reportFrontendMetrics: 'unlogged',
  listRecentContexts: 'nothing',
  listTokens: 'nothing',
  createToken: 'tokens',
  rotateToken: 'tokens',
  deleteToken: 'tokens',
  listEvents: 'nothing',
  listFlagEvents: 'nothing',
  listConsumers: 'nothing',
  resetConsumer: 'unlogged',
  deleteConsumer: 'unlogged',
  applyChanges: 'visible',
  undoChange: 'visible',
  createChangeRequest: 'request',
  decideChangeRequest: 'decision',
  withdrawChangeRequest: 'decision',
  applyChangeRequest: 'request',
  changeApprovalPolicy: 'policy',
  bypassApproval: 'nothing',
  changeRollout: 'visible',
  exportDefinitions: 'nothing',
  importDefinitions: 'visible',
};

interface HeaderRules {
  /** The event log records it, so a request may give a reason. */
  readonly isLogged: boolean;
  /** An approval can concern it, so a request may do without one. The pipeline asks for the permission. */
  readonly takesBypass: boolean;
  /** A request may have the id of its change set, or of the change request that it makes. */
  readonly isRepeatable: boolean;
}

const RULES: Readonly<Record<Written, HeaderRules>> = {
  visible: { isLogged: true, takesBypass: true, isRepeatable: true },
  unseen: { isLogged: true, takesBypass: true, isRepeatable: true },
  policy: { isLogged: true, takesBypass: true, isRepeatable: false },
  members: { isLogged: true, takesBypass: false, isRepeatable: true },
  // The secret of a token is shown once.
  tokens: { isLogged: true, takesBypass: false, isRepeatable: false },
  request: { isLogged: true, takesBypass: false, isRepeatable: true },
  // A repeated decision changes nothing.
  decision: { isLogged: true, takesBypass: false, isRepeatable: false },
  unlogged: { isLogged: false, takesBypass: false, isRepeatable: false },
  nothing: { isLogged: false, takesBypass: false, isRepeatable: false },
};

function writtenBy({ access, method, writes, permission, action }: Route): Written {
  if (access !== 'admin' || method === 'GET') return 'nothing';
  return writes ?? (WRITTEN as Readonly<Record<string, Written>>)[permission ?? action] ?? 'nothing';
}

/** Whether an operation changes who may access a project. */
export function changesMembers(operation: string): boolean {
  return (WRITTEN as Readonly<Record<string, Written>>)[operation] === 'members';
}

/** Whether the event log records the changes of a route. Its requests may then give a reason. */
export function isLogged(route: Route): boolean {
  return RULES[writtenBy(route)].isLogged;
}

/** Whether a route takes the header of a bypass: the change may do without the approval that it needs. */
export function takesBypass(route: Route): boolean {
  return RULES[writtenBy(route)].takesBypass;
}

/** Whether a route takes the id of its change set, or of the request that it makes. */
export function isRepeatable(route: Route): boolean {
  return RULES[writtenBy(route)].isRepeatable;
}

/** Whether the change of a route may need approval, by its document. Other routes declare the error in their rows. */
export function mayNeedApproval(route: Route): boolean {
  const { changes, never = [] } = route;
  const isSeen = (changes === 'flag' || changes === 'segment') && writtenBy(route) === 'visible';
  return isSeen && !never.includes('approval_required');
}
