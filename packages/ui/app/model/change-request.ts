import { listOf } from '@flags/core/admin';
import type { ApprovalPolicy, Change, ChangeRequest, ListedChangeRequest } from '../api/types.js';
import { plural, time } from '../words.js';

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

/** A title has room for so many names. */
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

/** A start later than this is worth a word. */
const LATE = 60_000;

/** Says what a request waits for, or what became of it; undefined if its state says everything. */
export function requestAdvice(request: ListedChangeRequest, now = Date.now()): string | undefined {
  const { state, at, notAfter, required, lateBy, changeSet, failure, endedAt } = request;
  switch (state) {
    case 'open':
    case 'approved':
      return waitText(request, now);
    case 'applied':
      if (changeSet === null) return 'It changed nothing: everything was already as it wanted.';
      if (lateBy === null || lateBy <= LATE) return undefined;
      return `It was applied late, on ${time(endedAt ?? at ?? '')}.`;
    case 'failed': {
      const message = failure?.message.replace(/[^.!?]$/, '$&.') ?? '';
      return `Nothing was changed. ${message} ${REMEDIES[failure?.code ?? ''] ?? REMEDY}`.trim();
    }
    case 'expired': {
      const end = notAfter === null ? 'it was not applied in time' : `it could not be applied until ${time(notAfter)}`;
      const check = at !== null && required === 0 ? ' Check that a service which applies what is due runs.' : '';
      return `Nothing was changed: ${end}.${check} If the change still fits, request it again.`;
    }
    default:
      return undefined;
  }
}

/** What to do after a failure, where its message does not say it. */
const REMEDIES: Readonly<Record<string, string>> = {
  author_revoked: '',
  forbidden:
    'Whoever set its time may not make this change any more: somebody with the permission can request it again.',
  revision_mismatch: 'If the change still fits, request it again.',
};

const REMEDY = 'Correct what the message names, then request the change again.';

function waitText(request: ListedChangeRequest, now: number): string {
  const { at, notAfter, expiresAt, approvals } = request;
  const missing = missingApprovals(request);
  const lapsed = approvals.some(({ current }) => !current) ? 'What was approved is no longer what would happen. ' : '';
  const more = approvals.length > 0 ? 'more ' : '';
  const people = `${plural(missing, `${more}person`, `${more}people`)} must approve it`;
  const isDue = at !== null && Date.parse(at) <= now;
  const end = notAfter ?? expiresAt ?? '';
  if (at === null) {
    return missing > 0 ? `${lapsed}${people}. It expires on ${time(end)}.` : `It can be applied until ${time(end)}.`;
  }
  if (missing > 0) {
    const then = isDue ? 'Then it is applied at once' : `Then it is applied on ${time(at)}`;
    return `${lapsed}${people}. ${then}; it expires on ${time(end)}.`;
  }
  return isDue
    ? `It is due. If no service can apply it until ${time(end)}, it expires.`
    : `It is applied on ${time(at)}.`;
}

/** Describes a new approval policy: one line per environment that it changes. */
export function describePolicy(before: ApprovalPolicy, after: ApprovalPolicy): readonly string[] {
  const names = [...new Set([...Object.keys(before.environments), ...Object.keys(after.environments)])];
  return names.flatMap((name) => {
    const [was, is] = [before, after].map(({ environments }) => approvalCount(environments[name]?.required ?? 0));
    return was === is ? [] : [`approvals in ${name}: ${was} → ${is}`];
  });
}

function approvalCount(required: number): string {
  return required === 0 ? 'none' : plural(required, 'person', 'people');
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
