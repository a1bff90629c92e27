import { effectsToReview, hiddenToReview } from '@flags/core/admin';
import { signal } from '@preact/signals';
import { ApiError, call } from '../api/call.js';
import { invalidate, invalidateAfterChange } from '../api/resource.js';
import type { Change, ChangeSet, Plan } from '../api/types.js';
import { refusalText } from '../model/refusal.js';
import { currentProject } from '../router.js';
import { may, reviewScope } from './session.js';
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
  /** Called after the change. */
  readonly onApplied?: (set: ChangeSet) => void;
  /** Whether the form merges its draft if a document has a newer revision. Default: a message says so. */
  readonly mergesConflicts?: boolean;
}

/** A proposal in the review dialog. */
export interface Review {
  readonly proposal: Proposal;
  /** Undefined if the caller may not plan. */
  readonly plan: Plan | undefined;
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
 * environment that needs a review.
 *
 * @throws ApiError for the form
 */
export function submit(proposal: Proposal): Promise<void> {
  return refusable(proposal, async () => {
    const plan = await planOf(proposal);
    if (proposal.isReviewed || proposal.confirm !== undefined || needsReview(plan)) {
      currentReview.value = { proposal, plan };
    } else await apply(proposal);
  });
}

/**
 * Applies a reviewed proposal.
 *
 * @throws ApiError for the review
 */
export function applyReviewed(proposal: Proposal, reason: string): Promise<void> {
  return refusable(proposal, () => apply(proposal, reason));
}

/** Resolves to undefined if the caller may not plan. It may still apply the changes. */
async function planOf({ changes, undoes }: Proposal): Promise<Plan | undefined> {
  const projects = new Set([currentProject(), ...changes.map(({ ref }) => String(ref?.project ?? currentProject()))]);
  if (![...projects].every((project) => may('previewChanges', project))) return undefined;
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
async function apply(proposal: Proposal, reason?: string): Promise<void> {
  if (proposal.leave) {
    currentReview.value = undefined;
    proposal.leave();
  }
  const { data } = await send(proposal, reason);
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
    void invalidateAfterChange();
    if (refusal.status === 403) invalidate('getSession');
    if (refusal.status === 412 && proposal.mergesConflicts) currentReview.value = undefined;
    else if (proposal.leave) showRefusal(refusal);
    else throw refusal;
  }
}

/** Repeats the request after an unknown outcome. The key makes that safe: the API returns the first result. */
async function send({ changes, undoes }: Proposal, reason?: string): ReturnType<typeof call<'applyChanges'>> {
  const why = reason ? { reason } : {};
  const key = crypto.randomUUID?.();
  const sendOnce = () =>
    undoes === undefined
      ? call('applyChanges', { body: { ...why, changes }, key })
      : call('undoChange', { params: { id: undoes }, body: why, key });
  try {
    return await sendOnce();
  } catch (error) {
    const isUnknown = error instanceof ApiError && (error.status === 0 || error.code === 'outcome_unknown');
    if (!isUnknown || key === undefined) throw error;
    return sendOnce();
  }
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
  if (error.status === 403) error.message = `You are not allowed to do this. ${error.message}`;
  return error;
}
