import { effectsToReview, hiddenToReview } from '@flags/core/admin';
import { signal } from '@preact/signals';
import { ApiError, call } from '../api/call.js';
import { invalidate, invalidateAfterChange } from '../api/resource.js';
import type { Change, ChangeSet, Plan } from '../api/types.js';
import { refusalText } from '../model/refusal.js';
import { currentProject, href, navigate } from '../router.js';
import { time } from '../words.js';
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
  /** Called after the change, or after it is scheduled: then without a set. */
  readonly onApplied?: (set?: ChangeSet) => void;
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

/** When to apply reviewed changes, instead of now. */
export interface LaterTimes {
  /** ISO 8601, with `Z`. */
  readonly at: string;
  /** Whether to fail if somebody else changes the same documents until then. */
  readonly ifUnchanged: boolean;
}

/** Returns whether a proposal can be applied later. A revert cannot: what it takes back may change until then. */
export function canSchedule(proposal: Proposal): boolean {
  return proposal.undoes === undefined && projectsOf(proposal).every((project) => offers('createSchedule', project));
}

/**
 * Schedules a reviewed proposal.
 *
 * @throws ApiError for the review
 */
export function scheduleReviewed(proposal: Proposal, times: LaterTimes, reason: string): Promise<void> {
  // Nothing is deleted yet, so the screen stays.
  const { leave: _leave, ...staying } = proposal;
  return refusable(staying, async () => {
    // Refuses if the reviewed state is outdated. The schedule does not expect its revisions: they change until it is due.
    await planOf(proposal);
    const body = { ...scheduleBody(proposal.changes, times), ...(reason && { reason }) };
    const { data } = await repeatUnknown((key) => call('createSchedule', { body, key }));
    await invalidateAfterChange();
    showToast({
      text: `Scheduled for ${time(data.at)}. Nothing has changed yet.`,
      tone: 'done',
      action: { label: 'Show the schedule', run: () => navigate(href(['schedules', data.id])) },
    });
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

function send({ changes, undoes }: Proposal, reason?: string): ReturnType<typeof call<'applyChanges'>> {
  const why = reason ? { reason } : {};
  return repeatUnknown((key) =>
    undoes === undefined
      ? call('applyChanges', { body: { ...why, changes }, key })
      : call('undoChange', { params: { id: undoes }, body: why, key }),
  );
}

/** Repeats a request after an unknown outcome. The key makes that safe: the API returns the first result. */
async function repeatUnknown<T>(sendOnce: (key: string | undefined) => Promise<T>): Promise<T> {
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
  if (error.status === 403) error.message = `You are not allowed to do this. ${error.message}`;
  return error;
}
