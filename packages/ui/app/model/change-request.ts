import { listOf } from '@flags/core/admin';
import type { Change, ChangeRequest, ListedChangeRequest } from '../api/types.js';

export type RequestState = ListedChangeRequest['state'];

/** A change of a request: one of a change set, a new approval policy, or an undo. */
export interface RequestedChange {
  readonly op: ChangeRequest['changes'][number]['op'];
  readonly ref?: { readonly [Name in 'project' | 'flag' | 'environment' | 'segment' | 'changeSet']?: unknown };
  readonly input?: unknown;
}

/** Whether a request in this state may still be applied. */
export function isOpen(state: RequestState): boolean {
  return state === 'open' || state === 'approved';
}

const STATES: Readonly<Record<RequestState, string>> = {
  open: 'Waits for approval',
  approved: 'Approved',
  applied: 'Applied',
  failed: 'Failed',
  rejected: 'Rejected',
  withdrawn: 'Withdrawn',
  expired: 'Expired',
};

/** The state of a request in words. */
export function stateText({ state, at, required }: Pick<ListedChangeRequest, 'state' | 'at' | 'required'>): string {
  if (state !== 'approved') return STATES[state];
  if (at !== null) return 'Scheduled';
  return required === 0 ? 'Ready to apply' : STATES[state];
}

/** What each change does, before the name of what it changes. */
const VERBS: Readonly<Record<RequestedChange['op'], string>> = {
  createProject: 'Create a project',
  updateProject: 'Change the project',
  deleteProject: 'Delete the project',
  addMember: 'Add a member to',
  changeMemberRole: 'Change the role of a member of',
  removeMember: 'Remove a member from',
  createFlag: 'Create a flag in',
  updateFlag: 'Change the details of',
  cloneFlag: 'Clone',
  archiveFlag: 'Archive',
  reviveFlag: 'Revive',
  deleteFlag: 'Delete',
  moveFlag: 'Move',
  setVariants: 'Change the variants of',
  addDependency: 'Add a dependency to',
  removeDependency: 'Remove a dependency from',
  addStrategy: 'Add a strategy to',
  updateStrategy: 'Change a strategy of',
  removeStrategy: 'Remove a strategy from',
  enable: 'Enable',
  disable: 'Disable',
  configureEnvironment: 'Change',
  createSegment: 'Create a segment',
  updateSegment: 'Change segment',
  deleteSegment: 'Delete segment',
  startRollout: 'Roll out in steps:',
  pauseRollout: 'Pause the rollout of',
  resumeRollout: 'Resume the rollout of',
  advanceRollout: 'Advance the rollout of',
  stopRollout: 'Stop the rollout of',
  setApprovalPolicy: 'Change which environments need approval',
  undoChangeSet: 'Revert a change',
};

/** Returns the permission that a change asks for. */
export function actionOf(op: RequestedChange['op']): string {
  return op.endsWith('Rollout') ? 'changeRollout' : op;
}

/** Names a request by what it changes: "Enable checkout and dark-mode in production". */
export function requestTitle(changes: readonly RequestedChange[]): string {
  const operations = new Set(changes.map(({ op }) => op));
  const [only] = operations;
  const verb = operations.size === 1 && only !== undefined ? VERBS[only] : 'Change';
  const refs = changes.map(({ ref = {} }) => ref);
  const subjects = refs.flatMap(({ flag, segment, project }) => flag ?? segment ?? project ?? []);
  return titleOf(verb, subjects.map(String), texts(refs.map(({ environment }) => environment)));
}

function texts(values: readonly unknown[]): readonly string[] {
  return values.filter((value) => typeof value === 'string');
}

/** Names a request by what lists tell of it, until its changes are known. */
export function subjectTitle({ flags, environments }: Pick<ListedChangeRequest, 'flags' | 'environments'>): string {
  const names = flags.map(({ flag }) => flag);
  return names.length === 0 ? VERBS.setApprovalPolicy : titleOf('', names, environments);
}

/** The number of names for which a title has room. */
const NAMED = 3;

function titleOf(verb: string, subjects: readonly string[], environments: readonly string[]): string {
  const names = [...new Set(subjects)];
  const places = [...new Set(environments)];
  const where = places.length === 0 ? '' : `in ${listOf(places, NAMED)}`;
  return [verb, listOf(names, NAMED), where].filter(Boolean).join(' ');
}

/** Returns how many approvals a request lacks. */
export function missingApprovals({ required, approvals }: Pick<ListedChangeRequest, 'required' | 'approvals'>): number {
  return Math.max(0, required - approvals.filter(({ current }) => current).length);
}

/** The changes of a request as plans and previews take them: a change set, or the undo of one. */
export function plannedOf(changes: readonly RequestedChange[]) {
  const undo = changes.find(({ op }) => op === 'undoChangeSet');
  const undoes = undo && String(undo.ref?.changeSet);
  const others = changes.filter(({ op }) => op !== 'setApprovalPolicy' && op !== 'undoChangeSet');
  return { changes: others as readonly Change[], undoes };
}

/** Returns the message of a refusal without the id of the request, which the page shows. */
export function refusalOfRequest(message: string): string {
  return message.replace(/\b[Tt]he change request [0-9a-f-]{36}/g, 'it').replace(/(^|[.;] )it /g, '$1It ');
}
