import { effectsToReview, hiddenToReview, type NeededApprovals } from '@flags/core/admin';
import { signal } from '@preact/signals';
import { ApiError, call } from '../api/call.js';
import { invalidate, invalidateAfterChange } from '../api/resource.js';
import type * as api from '../api/types.js';
import type { Change, ChangeSet, Plan } from '../api/types.js';
import { refusalText } from '../model/refusal.js';
import { type Way, waysOf } from '../model/ways.js';
import { currentProject, href, navigate } from '../router.js';
import { time } from '../words.js';
import { approvalsOf, findApprovals } from './approvals.js';
import { may, offers, reviewScope } from './session.js';
import { showToast } from './toasts.js';

/** Changes that a user is about to make. */
export interface Proposal {
  /** In the imperative: "Enable checkout in production". */
  readonly title: string;
  readonly changes: readonly Change[];
  /** The id of the change set to undo, instead of changes. */
  readonly undoes?: string;
  /** The introduction of the review. */
  readonly text?: string;
  /** Whether to open the review, whatever the effects are. Default: if clients of some environments notice something. */
  readonly isReviewed?: boolean;
  /** The label of the button in the review of a change that destroys something. */
  readonly confirm?: string;
  /** The message after the change: "checkout is on in production". */
  readonly done: string;
  /** Leaves the screen before the change, because a deleted document cannot be read again. */
  readonly leave?: () => void;
  /** Called after the change, or after it is scheduled or proposed: then without a set. */
  readonly onApplied?: (set?: ChangeSet) => void;
  /** Whether the form merges its draft if a document has a newer revision. Default: a message says so. */
  readonly mergesConflicts?: boolean;
}

/** A proposal in the review dialog. */
export interface Review {
  readonly proposal: Proposal;
  /** Undefined if the caller may not plan. */
  readonly plan: Plan | undefined;
  /** Undefined if it needs none. */
  readonly approvals: NeededApprovals | undefined;
}

/** Undefined while the review dialog is closed. */
export const currentReview = signal<Review | undefined>(undefined);

/** The id of the latest change set of this page that can be undone. */
export const latestChange = signal<string | undefined>(undefined);

/** Undoes the latest change of this page. Returns false if there is none. */
export function undoLatest(): boolean {
  const id = latestChange.value;
  if (id === undefined) return false;
  void propose(undoOf(id));
  return true;
}

/** Returns a proposal that undoes a change set. The undo can be undone, too. */
export function undoOf(id: string): Proposal {
  return { title: 'Revert the change', changes: [], undoes: id, done: 'The change was reverted.' };
}

/** Applies a proposal like {@link submit}, and shows a refusal as a message. */
export function propose(proposal: Proposal): Promise<void> {
  return submit(proposal).catch(showRefusal);
}

/**
 * Applies the proposal of a form. Opens the review first if it is requested, or if the changes affect clients of an
 * environment that needs a review, or if they need approval.
 *
 * @throws ApiError for the form
 */
export function submit(proposal: Proposal): Promise<void> {
  return refusable(proposal, async () => {
    const plan = await planOf(proposal);
    const approvals = await findApprovals(plan);
    if (proposal.isReviewed || proposal.confirm !== undefined || approvals || needsReview(plan)) {
      currentReview.value = { proposal, plan, approvals };
      return;
    }
    await apply(proposal).catch((error: ApiError) => {
      if (error.code !== 'approval_required') throw error;
      currentReview.value = { proposal, plan, approvals: approvalsOf(error) };
    });
  });
}

/** The ways of a review, the default first. */
export function waysOfReview({ proposal, approvals }: Review): readonly Way[] {
  return waysOf({
    needsApproval: approvals !== undefined,
    canSchedule: canSchedule(proposal),
    canPropose: proposal.undoes === undefined && offersIn(proposal, 'createProposal'),
    mayBypass: offersIn(proposal, 'bypassApproval'),
  });
}

/** Why a reviewed change is made. */
export interface Reasoned {
  readonly reason: string;
  /** Whether the change does without the approval that it needs. The reason says why. */
  readonly bypasses: boolean;
}

/**
 * Applies a reviewed proposal.
 *
 * @throws ApiError for the review
 */
export function applyReviewed(proposal: Proposal, reasoned: Reasoned): Promise<void> {
  return refusable(proposal, () => apply(proposal, reasoned));
}

/** When to apply reviewed changes, instead of now. */
export interface LaterTimes {
  /** ISO 8601, with `Z`. */
  readonly at: string;
  /** Whether to fail if somebody else changes the same documents until then. */
  readonly ifUnchanged: boolean;
}

/** Returns whether a proposal can be applied later. A revert cannot: what it takes back may change until then. */
function canSchedule(proposal: Proposal): boolean {
  return proposal.undoes === undefined && offersIn(proposal, 'createSchedule');
}

/** Returns whether the caller may perform an action in all projects of a proposal. */
function offersIn(proposal: Proposal, action: string): boolean {
  return projectsOf(proposal).every((project) => offers(action, project));
}

/**
 * Schedules a reviewed proposal.
 *
 * @throws ApiError for the review
 */
export function scheduleReviewed(proposal: Proposal, times: LaterTimes, reasoned: Reasoned): Promise<void> {
  return postpone(proposal, async () => {
    const { reason, bypass } = sentReason(reasoned);
    const body = { ...scheduleBody(proposal.changes, times), ...reason };
    const { data } = await repeatUnknown((key) => call('createSchedule', { body, key, bypass }));
    return {
      text: `Scheduled for ${time(data.at)}. Nothing has changed yet.`,
      label: 'Show the schedule',
      to: ['schedules', data.id],
    };
  });
}

/**
 * Proposes reviewed changes for the approval of other people.
 *
 * @throws ApiError for the review
 */
export function proposeReviewed(proposal: Proposal, reason: string): Promise<void> {
  return postpone(proposal, async () => {
    const body = { changes: withoutRevisions(proposal.changes), reason };
    const { data } = await repeatUnknown((key) => call('createProposal', { body, key }));
    return proposedMessage(data);
  });
}

/** The message after something is proposed. */
export function proposedMessage({ id, state }: Pick<api.Proposal, 'id' | 'state'>): Postponed {
  const text =
    state === 'approved'
      ? 'Proposed. It needs no approval, so it can be applied.'
      : 'Proposed. Nothing has changed yet: somebody else must approve it.';
  return { text, label: 'Show the proposal', to: ['proposals', id] };
}

/** What was made instead of the change: a message, and a link to it. */
interface Postponed {
  readonly text: string;
  readonly label: string;
  readonly to: readonly string[];
}

export function showPostponed({ text, label, to }: Postponed): void {
  showToast({ text, tone: 'done', action: { label, run: () => navigate(href(to)) } });
}

/** Makes something that changes nothing yet. So nothing is deleted, and the screen stays. */
function postpone({ leave: _leave, ...proposal }: Proposal, make: () => Promise<Postponed>): Promise<void> {
  return refusable(proposal, async () => {
    // Refuses if the reviewed state is outdated. What is made does not expect its revisions: they change until it is applied.
    await planOf(proposal);
    const made = await make();
    await invalidateAfterChange();
    showPostponed(made);
    await closeReview();
    proposal.onApplied?.();
  });
}

/** The body of the request that schedules changes. */
export function scheduleBody(changes: readonly Change[], { at, ifUnchanged }: LaterTimes) {
  return { changes: withoutRevisions(changes), at, ...(ifUnchanged && { ifUnchanged }) };
}

/** Returns changes that do not expect the revisions which the user has seen. */
export function withoutRevisions(changes: readonly Change[]): readonly Change[] {
  return changes.map(({ ifRevision: _ifRevision, ...change }) => change);
}

function projectsOf({ changes }: Proposal): readonly string[] {
  return [...new Set([currentProject(), ...changes.map(({ ref }) => String(ref?.project ?? currentProject()))])];
}

/** Resolves to undefined if the caller may not plan. It may still apply the changes. */
async function planOf(proposal: Proposal): Promise<Plan | undefined> {
  const { changes, undoes } = proposal;
  if (!projectsOf(proposal).every((project) => may('previewChanges', project))) return undefined;
  const { data } =
    undoes === undefined
      ? await call('planChanges', { body: { changes } })
      : await call('planUndo', { params: { id: undoes } });
  return data;
}

/** Whether a plan needs a review. Without a plan the effects are unknown, so it does. */
export function needsReview(plan: Plan | undefined): boolean {
  if (plan === undefined) return true;
  const scope = reviewScope.value;
  return effectsToReview(plan.effects, scope).length > 0 || hiddenToReview(plan.hiddenEffects, scope) > 0;
}

function showRefusal(refusal: ApiError): void {
  showToast({ text: refusalText(refusal), tone: 'fault' });
}

/** Applies a proposal in one commit, and offers to undo it. */
async function apply(proposal: Proposal, reasoned?: Reasoned): Promise<void> {
  if (proposal.leave) {
    currentReview.value = undefined;
    proposal.leave();
  }
  const { data } = await send(proposal, reasoned);
  await refresh(data);
  showDone(proposal.done, data);
  await closeReview();
  proposal.onApplied?.(data);
}

/** Closes the review, and waits until the focus is back on the dialog below, which may close too. */
async function closeReview(): Promise<void> {
  if (currentReview.value === undefined) return;
  currentReview.value = undefined;
  await new Promise((closed) => setTimeout(closed));
}

/** Reloads the page after a refusal, and throws it in words, unless the draft of a form merges with the newest state. */
async function refusable(proposal: Proposal, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const refusal = inWords(error as ApiError);
    const review = currentReview.value;
    // The policy, or the state of the flags, has changed since the plan.
    if (refusal.code === 'approval_required' && review) {
      currentReview.value = { ...review, approvals: approvalsOf(error as ApiError) };
    }
    void invalidateAfterChange();
    if (refusal.status === 403) invalidate('getSession');
    if (refusal.status === 412 && proposal.mergesConflicts) currentReview.value = undefined;
    else if (proposal.leave) showRefusal(refusal);
    else throw refusal;
  }
}

function send({ changes, undoes }: Proposal, reasoned?: Reasoned): ReturnType<typeof call<'applyChanges'>> {
  const { reason, bypass } = sentReason(reasoned);
  return repeatUnknown((key) =>
    undoes === undefined
      ? call('applyChanges', { body: { ...reason, changes }, key, bypass })
      : call('undoChange', { params: { id: undoes }, body: reason, key, bypass }),
  );
}

/** Returns the reason for the body, or that of a bypass for its header. */
function sentReason({ reason, bypasses }: Reasoned = { reason: '', bypasses: false }) {
  if (bypasses) return { reason: {}, bypass: reason };
  return { reason: reason ? { reason } : {}, bypass: undefined };
}

/** Repeats a request after an unknown outcome. The key makes that safe: the API returns the first result. */
export async function repeatUnknown<T>(sendOnce: (key: string | undefined) => Promise<T>): Promise<T> {
  const key = timeOrderedId();
  try {
    return await sendOnce(key);
  } catch (error) {
    const isUnknown = error instanceof ApiError && (error.status === 0 || error.code === 'outcome_unknown');
    if (!isUnknown || key === undefined) throw error;
    return sendOnce(key);
  }
}

/**
 * Returns a UUID of version 7, as the API makes them: schedules of the same time run in the order of their ids. Undefined
 * where the browser makes none, because the page came by plain HTTP.
 */
function timeOrderedId(): string | undefined {
  const now = Date.now().toString(16).padStart(12, '0');
  return crypto.randomUUID?.().replace(/^.{15}/, `${now.slice(0, 8)}-${now.slice(8)}-7`);
}

function showDone(text: string, { id }: ChangeSet): void {
  latestChange.value = id ?? undefined;
  showToast({
    text,
    tone: 'done',
    ...(id !== null && { action: { label: 'Undo', run: () => void propose(undoOf(id)) } }),
  });
}

/** Reloads outdated replies after a change set, so that the page shows the new state before the message. */
async function refresh({ revisions = {} }: ChangeSet): Promise<void> {
  const documents = Object.keys(revisions);
  const flags = documents.flatMap((name) => (name.startsWith('flag/') ? [name.slice(5)] : []));
  await invalidateAfterChange(flags.length === documents.length ? flags : undefined);
}

function inWords(error: ApiError): ApiError {
  if (error.status === 412) {
    error.message = 'Somebody else has changed this in the meantime. The page now shows the newest state: try again.';
  }
  if (error.code === 'schedules_disabled') {
    error.message =
      'This service carries out no schedules. Apply the changes now, or ask its operators for runSchedules.';
  }
  if (error.code === 'approval_required') {
    const where = approvalsOf(error).environments.join(' and ');
    const message = `This needs approval${where && ` in ${where}`}, so nothing has changed.`;
    return new ApiError(error.status, error.code, message);
  }
  if (error.status === 403) error.message = `You are not allowed to do this. ${error.message}`;
  return error;
}
