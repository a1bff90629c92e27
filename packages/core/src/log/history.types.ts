import type { ChangeSetRef, FlagRef, ListPage, PageQuery, ProjectRef } from '../base/common.types.js';
import type { PartDifference } from '../base/parts.js';
import type {
  Change,
  ChangePlan,
  ChangePreview,
  ChangeSet,
  PreviewQuery,
  UndoOptions,
} from '../changesets/change-set.types.js';
import type {
  EnvironmentChoice,
  EvaluatedVariant,
  EvaluationContext,
  EvaluationOptions,
  FlagExplanation,
  VariantOptions,
} from '../evaluation/evaluation.types.js';
import type { FlagDetail } from '../flags/flag.types.js';

/** Selects the history of a flag, of a project, or of the whole instance. */
export type HistoryRef = FlagRef | ProjectRef | Readonly<Record<string, never>>;

/** A change set with its differences. */
export interface HistoryEntry extends ChangeSet {
  readonly differences: readonly DocumentDifference[];
}

/** The differences of one document in a change set. */
export interface DocumentDifference {
  readonly kind: string;
  readonly id: string;
  readonly parts: readonly PartDifference[];
}

/**
 * A read-only view of the flags at an earlier time. Its methods return the results that the operations of the same
 * names had then. They do not count evaluations.
 */
export interface FlagsView {
  /** `lastSeenAt` is null, because the log has no metrics. `revision` is that of the last event. */
  getFlag(ref: FlagRef): Promise<FlagDetail>;
  isEnabled(flag: string, context?: EvaluationContext, options?: EvaluationOptions): Promise<boolean>;
  getVariant(flag: string, context?: EvaluationContext, options?: VariantOptions): Promise<EvaluatedVariant>;
  explain(flag: string, context?: EvaluationContext, options?: EnvironmentChoice): Promise<FlagExplanation>;
}

/** Operations that read, undo or preview change sets. */
export interface ChangeHistoryOperations {
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
   * Gets a change set with all its events and differences.
   *
   * @throws FlagsError `change_set_not_found`, `invalid_input`
   * @example
   * const { actor, reason, differences } = await flags.getChangeSet({ changeSet: set.id });
   */
  getChangeSet(ref: ChangeSetRef): Promise<HistoryEntry>;

  /**
   * Lists all projects of a change set, without reading the data of its events; null for the instance. A page of a
   * history or of events may show only a part of the set.
   *
   * @throws FlagsError `change_set_not_found`, `invalid_input`
   * @example
   * const { items } = await flags.listChangeSetProjects({ changeSet: event.changeSet }); // ['shop', null]
   */
  listChangeSetProjects(ref: ChangeSetRef): Promise<ListPage<string | null>>;

  /**
   * Lists change sets, newest first, with the events and differences of a flag, of a project, or of everything.
   *
   * A page has at most `limit` sets (default: 100), and at most 1 MiB of JSON but at least one set.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found` (unless the log knows it)
   * @example
   * const { items, next } = await flags.listHistory({ project: 'default', flag: 'checkout' }, { limit: 20 });
   */
  listHistory(ref?: HistoryRef, page?: PageQuery): Promise<ListPage<HistoryEntry>>;

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

  /**
   * Returns a view of the flags at a time, or after the event at a position. Uses the present environments
   * and options. The view reads lazily, and caches the documents that it has read.
   *
   * @param time ISO 8601, a `Date`, or the position of an event. The state is that after the last event at or before it
   * @throws FlagsError `invalid_input` for an invalid time; `closed`. The methods of the view reject with
   * `invalid_input` for a time before the first event
   * @example
   * const view = flags.asOf('2026-01-02T14:03:00Z');
   * const saw = await view.isEnabled('checkout', { userId: '42' }, { environment: 'production' });
   */
  asOf(time: string | Date | { readonly position: string }): FlagsView;
}
