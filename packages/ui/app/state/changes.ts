import { effectsToReview, hiddenToReview } from '@flags/core/admin';
import { signal } from '@preact/signals';
import { ApiError, call } from '../api/call.js';
import { invalidateAfterChange } from '../api/resource.js';
import type { Change, ChangeSet, Plan } from '../api/types.js';
import { refusalText } from '../model/refusal.js';
import { currentProject } from '../router.js';
import { may, reloadPermissions, reviewScope } from './session.js';
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
  /** The label of the button in the review. */
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

type ShowRefusal = (refusal: ApiError | undefined) => void;

/** Applies a proposal. Opens the review first if the changes affect clients of an environment that needs a review. */
export function propose(proposal: Proposal, show?: ShowRefusal): Promise<void> {
  return start(proposal, show, needsReview);
}

/** Opens the review of a proposal, whatever its effects are. */
export function review(proposal: Proposal): Promise<void> {
  return start(proposal, undefined, () => true);
}

async function start(
  proposal: Proposal,
  show: ShowRefusal = showRefusal,
  isAsked: (plan: Plan | undefined) => boolean,
): Promise<void> {
  try {
    const plan = await planOf(proposal);
    show(undefined);
    if (isAsked(plan)) currentReview.value = { proposal, plan };
    else show(await applyProposal(proposal));
  } catch (error) {
    show(refused(error as ApiError, proposal));
  }
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

/** Shows a refusal that no form shows. */
function showRefusal(refusal: ApiError | undefined): void {
  if (refusal !== undefined) showToast({ text: refusalText(refusal), tone: 'fault' });
}

/** Applies a proposal in one commit, and offers to undo it. Returns the refusal if the caller must show it. */
export async function applyProposal(proposal: Proposal, reason?: string): Promise<ApiError | undefined> {
  if (proposal.leave) {
    currentReview.value = undefined;
    proposal.leave();
  }
  try {
    const { data } = await send(proposal, reason);
    await refresh(data);
    showDone(proposal.done, data);
    await closeReview();
    proposal.onApplied?.(data);
    return undefined;
  } catch (error) {
    const refusal = refused(error as ApiError, proposal);
    if (proposal.leave === undefined) return refusal;
    showRefusal(refusal);
    return undefined;
  }
}

/** Closes the review, and waits until the focus is back on the dialog below, which may close too. */
async function closeReview(): Promise<void> {
  if (currentReview.value === undefined) return;
  currentReview.value = undefined;
  await new Promise((closed) => setTimeout(closed));
}

/** Reloads the page after a refusal. Returns the refusal, unless the draft of a form merges with the newest state. */
function refused(error: ApiError, { mergesConflicts = false }: Proposal): ApiError | undefined {
  const refusal = inWords(error);
  void invalidateAfterChange();
  if (refusal.status === 403) reloadPermissions();
  if (refusal.status !== 412 || !mergesConflicts) return refusal;
  currentReview.value = undefined;
  return undefined;
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
    error.message = 'Somebody else has changed this meanwhile. The page now shows the newest state: try again.';
  }
  if (error.status === 403) error.message = `You are not allowed to do this. ${error.message}`;
  return error;
}
