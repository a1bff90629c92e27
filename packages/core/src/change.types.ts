import type { ChangeSetRef } from './base/common.types.js';
import type { ApplyOptions, ChangeSet } from './changesets/change-set.types.js';
import type { ChangeOperationName, ChangeVocabulary } from './changesets/operations.js';
import type { ChangePlan, ChangePreview, PreviewQuery } from './features/environments/plan.types.js';
import type { UndoOptions } from './log/history.types.js';

/**
 * One change as data: an operation, its reference and its input.
 *
 * @typeParam Own the names of strategies that are not built in
 * @example
 * const change: Change = {
 *   op: 'enable',
 *   ref: { project: 'default', flag: 'checkout', environment: 'production' },
 * };
 */
export type Change<Own extends string = never> = {
  readonly [Op in ChangeOperationName]: {
    readonly op: Op;
    /** The revision of the document that the change is about (flag, project, segment), or several acceptable ones. */
    readonly ifRevision?: number | readonly number[];
  } & ChangeVocabulary<Own>[Op];
}[ChangeOperationName];

export interface ChangeSetOperations<Own extends string = never> {
  /**
   * Applies changes in their order, in one commit: all of them, or none.
   *
   * Each change is decided on the state that the earlier ones leave. A refusal names the change: `details[].path` is
   * `/changes/3` or longer. Concurrent sets are serialized: after a conflict, a set is decided again.
   *
   * @param changes at most 500
   * @throws FlagsError as the single operations; `change_set_too_large` (more than 500 changes, or more than 8 MiB of
   * documents and events); `revision_mismatch`; `id_taken`
   * @example
   * await flags.apply(
   *   [
   *     { op: 'createFlag', ref: { project: 'default' }, input: { name: 'checkout' } },
   *     { op: 'addStrategy', ref: production, input: { name: 'default' } },
   *     { op: 'enable', ref: production },
   *   ],
   *   { reason: 'Launch' },
   * );
   */
  apply(changes: readonly Change<Own>[], options?: ApplyOptions): Promise<ChangeSet>;

  /**
   * Decides changes without a commit. Returns the documents before and after, the events, and the effects on clients.
   * Works in slices of some milliseconds.
   *
   * @throws FlagsError as `apply`
   * @example
   * const { effects } = await flags.plan([{ op: 'archiveFlag', ref: { project: 'default', flag: 'checkout' } }]);
   * const isSeen = effects.some(({ environment }) => environment === 'production');
   */
  plan(changes: readonly Change<Own>[]): Promise<ChangePlan>;
}

/** Operations that preview changes, and take change sets back. */
export interface UndoOperations {
  /**
   * Evaluates contexts before and after changes, without a commit: for every changed flag, for flags that use a changed
   * segment, and for flags that depend on any of these. Does not count evaluations or report problems.
   *
   * Both sides draw the same random numbers, so that random numbers alone change no result. Works in slices of some
   * milliseconds; do not change the contexts until the promise resolves.
   *
   * @param query at most 1000 contexts, and fewer if the changes concern many flags
   * @throws FlagsError as `apply`; `environment_not_found`. The signal's reason when it aborts
   * @example
   * const change: Change = { op: 'updateStrategy', ref: strategy, input: { parameters: { rollout: '50' } } };
   * const { flags: [checkout] } = await flags.preview([change], {
   *   environment: 'production',
   *   contexts: [{ userId: '7' }, { userId: '8' }],
   * });
   * console.log(checkout.before.enabled, '→', checkout.after.enabled);
   */
  preview(changes: readonly Change[], query: PreviewQuery): Promise<ChangePreview>;

  /**
   * Undoes a change set in one commit. Restores each part that the set changed, and keeps later changes of other parts.
   * Parts are each metadata member, strategy, switch and member, the variants, the dependencies, the archived state,
   * and the existence of a document. The result is a change set, which can be undone.
   *
   * Does not restore metrics and API tokens. Safe to call concurrently: after a conflict, the undo is decided again.
   *
   * @param options `authorize` is called with the set before anything is decided, and refuses the undo by throwing
   * @throws FlagsError `change_set_not_found`; `undo_conflict` (a part was changed again: `details` names the later
   * sets; or a reference is missing, a name taken, or the set changed tokens only); `change_set_too_large`; and the
   * refusals of single operations, such as `flag_has_children`, `segment_in_use`, `project_not_empty`, `last_owner`
   * @example
   * await flags.undoChangeSet({ changeSet: set.id }, { reason: 'Too many errors' });
   */
  undoChangeSet(ref: ChangeSetRef, options?: UndoOptions): Promise<ChangeSet>;

  /**
   * Decides an undo without a commit, as `plan` decides changes: shows the direction that the undo would take.
   *
   * @throws FlagsError as `undoChangeSet`
   * @example
   * const { documents, effects } = await flags.planUndo({ changeSet: set.id });
   */
  planUndo(ref: ChangeSetRef, options?: Pick<UndoOptions, 'authorize'>): Promise<ChangePlan>;

  /**
   * Evaluates contexts before and after an undo, as `preview` does for changes. Changes nothing.
   *
   * @param query as of `preview`, with `authorize` as of `undoChangeSet`
   * @throws FlagsError as `undoChangeSet` and `preview`
   * @example
   * const query = { environment: 'production', contexts: [{ userId: '7' }] };
   * const { flags: [checkout] } = await flags.previewUndo({ changeSet: set.id }, query);
   */
  previewUndo(ref: ChangeSetRef, query: PreviewQuery & Pick<UndoOptions, 'authorize'>): Promise<ChangePreview>;
}
