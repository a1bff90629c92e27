import { effectsToReview, hiddenToReview } from '@flags/core/admin';
import { signal } from '@preact/signals';
import { ApiError, call } from '../api/call.js';
import { invalidate, invalidateAfterChange } from '../api/resource.js';
import type { Change, ChangeRequest, ChangeSet, Plan } from '../api/types.js';
import { actionOf, type RequestedChange } from '../model/change-request.js';
import { refusalText } from '../model/refusal.js';
import { type Way, waysOf } from '../model/ways.js';
import { currentProject, href, navigate } from '../router.js';
import { time } from '../words.js';
import { approvalOf, type NeededApproval } from './approvals.js';
import { whileApplying } from './preview.js';
import { acceptsTimes, may, offers, reviewScope } from './session.js';
import { showToast } from './toasts.js';

/** Changes that a user is about to make. */
export interface Proposal {
  /** In the imperative: "Enable checkout in production". */
  readonly title: string;
  readonly changes: readonly Change[];
  /** The changes of a request, if they differ: a request keeps the order of strategies while one rolls out. */
  readonly requested?: readonly Change[] | undefined;
  /** The id of the request that these changes replace. */
  readonly replaces?: string | undefined;
  /** The reason that the review proposes. */
  readonly reason?: string;
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
  /** Whether the change can be undone. Default: it can. */
  readonly isFinal?: boolean;
  /** Leaves the screen before the change, because a deleted document cannot be read again. */
  readonly leave?: () => void;
  /** Called after the change, or after it is requested: then without a set. */
  readonly onApplied?: (set?: ChangeSet) => void;
  /** Whether the form merges its draft if a document has a newer revision. Default: a message says so. */
  readonly mergesConflicts?: boolean;
}

/** A proposal in the review dialog. */
export interface Review {
  readonly proposal: Proposal;
  /** Undefined if the caller may not plan. */
  readonly plan: Plan | undefined;
  /** Null if it needs none, as far as the page knows. */
  readonly approval: NeededApproval | null;
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
    const approval = plan?.approval ?? null;
    if (proposal.isReviewed || proposal.confirm !== undefined || approval || needsReview(plan) || !mayApply(proposal)) {
      currentReview.value = { proposal, plan, approval };
      return;
    }
    await apply(proposal).catch((error: ApiError) => {
      if (error.code !== 'approval_required') throw error;
      currentReview.value = { proposal, plan, approval: approvalOf(error) };
    });
  });
}

/** The ways of a review, the default first. */
export function waysOfReview({ proposal, plan, approval }: Review): readonly Way[] {
  const projects = [...new Set([...projectsOf(proposal), ...(plan?.effects.map(({ project }) => project) ?? [])])];
  return waysOf({
    needsApproval: approval !== null,
    acceptsTimes: acceptsTimes.value,
    canRequest: projects.every((project) => offers('createChangeRequest', project)),
    mayApply: mayApply(proposal),
    mayBypass: projects.every((project) => offers('bypassApproval', project)),
    isReplacement: proposal.replaces !== undefined,
  });
}

/** Whether the caller has the permissions for the changes themselves. Else they can be requested only. */
function mayApply({ changes, undoes }: Proposal): boolean {
  if (undoes !== undefined) return may('undoChange', currentProject());
  return changes.every(({ op, ref }) => may(actionOf(op), String(ref?.project ?? currentProject())));
}

/** Why a reviewed change is made. */
export interface ChangeReason {
  readonly reason: string;
  /** Whether the change does without the approval that it needs. The reason says why. */
  readonly bypasses: boolean;
}

/**
 * Applies a reviewed proposal.
 *
 * @throws ApiError for the review
 */
export function applyReviewed(proposal: Proposal, reasoned: ChangeReason): Promise<void> {
  return refusable(proposal, () => apply(proposal, reasoned));
}

/** When to apply reviewed changes, instead of now. */
export interface LaterTimes {
  /** ISO 8601, with `Z`. */
  readonly at: string;
  /** Whether to fail if somebody else changes the same documents until then. */
  readonly ifUnchanged: boolean;
}

/**
 * Requests reviewed changes: for a time, or for other people.
 *
 * @param times undefined: a person applies the request
 * @throws ApiError for the review
 */
export function requestReviewed(proposal: Proposal, reason: string, times?: LaterTimes): Promise<void> {
  return postpone(proposal, async () => {
    const body = { changes: requestedChanges(proposal), ...requestOptions(proposal, times), ...(reason && { reason }) };
    const { data } = await repeatUnknown((key) => call('createChangeRequest', { body, key }));
    return requestedMessage(data);
  });
}

/** The changes of the request that makes a proposal. They do not expect the revisions which the user has seen. */
export function requestedChanges({ changes, requested = changes, undoes }: Proposal): readonly RequestedChange[] {
  if (undoes !== undefined) return [{ op: 'undoChangeSet', ref: { changeSet: undoes } }];
  return requested.map(({ ifRevision: _ifRevision, ...change }) => change as RequestedChange);
}

export function requestOptions({ replaces }: Proposal, times: LaterTimes | undefined) {
  return {
    ...(times && { at: times.at, ...(times.ifUnchanged && { ifUnchanged: true }) }),
    ...(replaces !== undefined && { replaces }),
  };
}

/** The message after something is requested. */
export function requestedMessage({ id, state, at }: Pick<ChangeRequest, 'id' | 'state' | 'at'>): Postponed {
  const next =
    state === 'open'
      ? 'somebody else must approve it.'
      : at === null
        ? 'it needs no approval, so it can be applied.'
        : `it is applied on ${time(at)}.`;
  return { text: `Requested. Nothing has changed yet: ${next}`, label: 'Show the request', to: ['changes', id] };
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

/** Creates a request, which changes nothing yet: a review of a deletion does not leave the screen. */
function postpone({ leave: _leave, ...proposal }: Proposal, make: () => Promise<Postponed>): Promise<void> {
  return refusable(proposal, async () => {
    // Refuses if the reviewed state is outdated. The request does not expect the reviewed revisions: they may change
    // until it is applied.
    await planOf(proposal);
    const made = await make();
    await invalidateAfterChange();
    showPostponed(made);
    await closeReview();
    proposal.onApplied?.();
  });
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
async function apply(proposal: Proposal, reasoned?: ChangeReason): Promise<void> {
  if (proposal.leave) {
    currentReview.value = undefined;
    proposal.leave();
  }
  await whileApplying(async () => {
    const { data } = await send(proposal, reasoned);
    await refresh(data);
    showDone(proposal, data);
    await closeReview();
    proposal.onApplied?.(data);
  });
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
      currentReview.value = { ...review, approval: approvalOf(error as ApiError) };
    }
    void invalidateAfterChange();
    if (refusal.status === 403) invalidate('getSession');
    if (refusal.status === 412 && proposal.mergesConflicts) currentReview.value = undefined;
    else if (proposal.leave) showRefusal(refusal);
    else throw refusal;
  }
}

function send({ changes, undoes }: Proposal, reasoned?: ChangeReason): ReturnType<typeof call<'applyChanges'>> {
  const { reason, bypass } = sentReason(reasoned);
  return repeatUnknown((key) =>
    undoes === undefined
      ? call('applyChanges', { body: { ...reason, changes }, key, bypass })
      : call('undoChange', { params: { id: undoes }, body: reason, key, bypass }),
  );
}

/** Returns the reason for the body, or that of a bypass for its header. */
function sentReason({ reason, bypasses }: ChangeReason = { reason: '', bypasses: false }) {
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
 * Returns a UUID of version 7, as the API makes them: requests of the same time are applied in the order of their ids. Undefined
 * where the browser makes none, because the page came by plain HTTP.
 */
function timeOrderedId(): string | undefined {
  const now = Date.now().toString(16).padStart(12, '0');
  return crypto.randomUUID?.().replace(/^.{15}/, `${now.slice(0, 8)}-${now.slice(8)}-7`);
}

function showDone({ done, isFinal = false }: Proposal, { id }: ChangeSet): void {
  const canUndo = id !== null && !isFinal;
  latestChange.value = canUndo ? id : undefined;
  showToast({
    text: done,
    tone: 'done',
    ...(canUndo && { action: { label: 'Undo', run: () => void propose(undoOf(id)) } }),
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
  if (error.code === 'due_disabled') {
    error.message = 'This service applies nothing at a time. Apply the changes now, or ask its operators for due.run.';
  }
  if (error.code === 'approval_required') {
    const where = approvalOf(error).environments.join(' and ');
    const message = `This needs approval${where && ` in ${where}`}, so nothing has changed.`;
    return new ApiError(error.status, error.code, message);
  }
  if (error.status === 403) error.message = `You are not allowed to do this. ${error.message}`;
  return error;
}
