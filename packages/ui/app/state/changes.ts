import { signal } from '@preact/signals';
import { ApiError, call } from '../api/call.js';
import { invalidate } from '../api/resource.js';
import type { Change, ChangeSet } from '../api/types.js';
import type { Difference } from '../model/differences.js';
import { refusalText } from '../model/refusal.js';
import { readFlags, reloadFlagList } from './flag-list.js';
import { isReviewed, reloadPermissions } from './session.js';
import { showToast } from './toasts.js';

/** Changes that a user is about to make. */
export interface Proposal {
  /** In the imperative: "Enable checkout in production". */
  readonly title: string;
  readonly changes: readonly Change[];
  /** What differs, for the review. Absent for changes that the title says completely. */
  readonly differences?: readonly Difference[];
  /** Environments whose users the changes reach. Default: those that the changes name. */
  readonly environments?: readonly string[];
  /** The message after the change: "checkout is on in production". */
  readonly done: string;
  /** Called after the change. */
  readonly onApplied?: (set: ChangeSet) => void;
  /** Called if a document has moved on meanwhile. Default: says so. */
  readonly onConflict?: (error: ApiError) => void;
}

/** The proposal in the review dialog; undefined while the dialog is closed. */
export const reviewed = signal<Proposal | undefined>(undefined);

/** Increases with every change that the page has made or heard of: evaluations of before are out of date. */
export const version = signal(0);

/** The change set that the page has made last and that can be taken back. */
export const latestChange = signal<string | undefined>(undefined);

/** Takes the latest change of this page back. Returns false if there is none. */
export function undoLatest(): boolean {
  const id = latestChange.value;
  if (id === undefined) return false;
  latestChange.value = undefined;
  void undo(id);
  return true;
}

/** Makes changes, through the review if one of their environments asks for it. */
export async function propose(proposal: Proposal): Promise<void> {
  const needsReview = proposal.changes.some(
    ({ ref }) => ref?.environment !== undefined && isReviewed(String(ref.environment)),
  );
  if (needsReview) reviewed.value = proposal;
  else showRefusal(await carryOut(proposal));
}

/** Opens the review, whatever the environment. */
export function review(proposal: Proposal): void {
  reviewed.value = proposal;
}

/** Shows a refusal that no form shows. */
export function showRefusal(refusal: ApiError | undefined): void {
  if (refusal !== undefined) showToast({ text: refusalText(refusal), tone: 'fault' });
}

/** Applies changes in one commit, and offers to take them back. Returns the refusal, if there was one: the caller shows it. */
export async function carryOut(proposal: Proposal, reason?: string): Promise<ApiError | undefined> {
  const id = crypto.randomUUID?.();
  try {
    const body = { ...(id && { id }), ...(reason && { reason }), changes: proposal.changes };
    const { data } = await applyOnce(body);
    await refresh(data);
    showDone(proposal.done, data);
    proposal.onApplied?.(data);
    return undefined;
  } catch (error) {
    const refusal = inWords(error as ApiError);
    void refresh();
    reloadFlagList();
    if (refusal.status === 403) reloadPermissions();
    if (refusal.status === 412) proposal.onConflict?.(refusal);
    return refusal;
  }
}

/** A repeated id returns the first result: after an unknown outcome the page looks before it tells. */
async function applyOnce(body: { readonly id?: string }): ReturnType<typeof call<'applyChanges'>> {
  try {
    return await call('applyChanges', { body });
  } catch (error) {
    const isUnknown = error instanceof ApiError && (error.status === 0 || error.code === 'outcome_unknown');
    if (!isUnknown || body.id === undefined) throw error;
    return call('applyChanges', { body });
  }
}

/** Takes a change set back. An undo can be undone. */
export async function undo(id: string, reason?: string): Promise<boolean> {
  try {
    const { data } = await call('undoChange', { params: { id }, body: { ...(reason && { reason }) } });
    await refresh(data);
    showDone('The change was reverted.', data);
    return true;
  } catch (error) {
    showRefusal(inWords(error as ApiError));
    return false;
  }
}

function showDone(text: string, { id }: ChangeSet): void {
  latestChange.value = id ?? undefined;
  showToast({ text, tone: 'done', ...(id !== null && { action: { label: 'Undo', run: () => void undo(id) } }) });
}

/** Reads again what is out of date after a change set. Single flags of the list are there before the message is. */
async function refresh(set?: ChangeSet): Promise<void> {
  version.value++;
  invalidate((action) => action !== 'getSession');
  const names = Object.keys(set?.revisions ?? {}).flatMap((name) => (name.startsWith('flag/') ? name.slice(5) : []));
  if (names.length > MAX_READ) reloadFlagList();
  else await readFlags(names);
}

/** With more changed flags than this, the whole list is read. */
const MAX_READ = 3;

function inWords(error: ApiError): ApiError {
  if (error.status === 412) {
    error.message = 'Somebody else has changed this meanwhile. The page now shows the newest state: try again.';
  }
  if (error.status === 403) error.message = `You are not allowed to do this. ${error.message}`;
  return error;
}
