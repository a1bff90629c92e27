import type { ChangeSetRef, ListPage, PageQuery } from '../../base/common.types.js';
import type { ChangeEngine } from '../../kernel/changes/change-engine.js';
import type { ChangeSet } from '../../kernel/changes/change-set.types.js';
import { ENGINE, Namespace, run } from '../../kernel/changes/run-operation.js';
import type { ChangePlan, ChangePreview, PreviewQuery } from '../environments/plan.types.js';
import { asOf, type PastEngine } from './as-of.operations.js';
import { historyOperations } from './history.operations.js';
import type { FlagsView, HistoryEntry, HistoryRef, UndoOptions } from './history.types.js';
import { undoOperations } from './undo.operations.js';

/** Change sets that were committed, how to take them back, and the flags of the past: `flags.history`. */
export class History extends Namespace {
  /** @internal */
  declare readonly [ENGINE]: ChangeEngine & PastEngine;

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
   * await flags.history.undo({ changeSet: set.id }, { reason: 'Too many errors' });
   */
  undo(ref: ChangeSetRef, options?: UndoOptions): Promise<ChangeSet> {
    return run(this, undoOperations.undoChangeSet, { ref, context: options });
  }

  /**
   * Decides an undo without a commit, as `plan` decides changes: shows the direction that the undo would take.
   *
   * @throws FlagsError as `undoChangeSet`
   * @example
   * const { documents, effects } = await flags.history.planUndo({ changeSet: set.id });
   */
  planUndo(ref: ChangeSetRef, options?: Pick<UndoOptions, 'authorize'>): Promise<ChangePlan> {
    return run(this, undoOperations.planUndo, { ref, context: options });
  }

  /**
   * Evaluates contexts before and after an undo, as `preview` does for changes. Changes nothing.
   *
   * @param query as of `preview`, with `authorize` as of `undoChangeSet`
   * @throws FlagsError as `undoChangeSet` and `preview`
   * @example
   * const query = { environment: 'production', contexts: [{ userId: '7' }] };
   * const { flags: [checkout] } = await flags.history.previewUndo({ changeSet: set.id }, query);
   */
  previewUndo(ref: ChangeSetRef, query: PreviewQuery & Pick<UndoOptions, 'authorize'>): Promise<ChangePreview> {
    return run(this, undoOperations.previewUndo, { ref, context: query });
  }

  /**
   * Lists change sets, newest first, with the events and differences of a flag, of a project, or of everything.
   *
   * A page has at most `limit` sets (default: 100, because the log grows without end), and at most 1 MiB of JSON but at
   * least one set.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found` (unless the log knows it)
   * @example
   * const { items, next } = await flags.history.list({ project: 'default', flag: 'checkout' }, { limit: 20 });
   */
  list(ref?: HistoryRef, page?: PageQuery): Promise<ListPage<HistoryEntry>> {
    return run(this, historyOperations.listHistory, { input: ref, context: page });
  }

  /**
   * Gets a change set with all its events and differences.
   *
   * @throws FlagsError `change_set_not_found`, `invalid_input`
   * @example
   * const { actor, reason, differences } = await flags.history.get({ changeSet: set.id });
   */
  get(ref: ChangeSetRef): Promise<HistoryEntry> {
    return run(this, historyOperations.getChangeSet, { ref });
  }

  /**
   * Lists all projects of a change set, without reading the data of its events; null for the instance. A page of a
   * history or of events may show only a part of the set.
   *
   * @throws FlagsError `change_set_not_found`, `invalid_input`
   * @example
   * const { items } = await flags.history.listProjects({ changeSet: event.changeSet }); // ['shop', null]
   */
  listProjects(ref: ChangeSetRef): Promise<ListPage<string | null>> {
    return run(this, historyOperations.listChangeSetProjects, { ref });
  }

  /**
   * Returns a view of the flags at a time, or after the event at a position. Uses the present environments
   * and options. The view reads lazily, and caches the documents that it has read.
   *
   * @param time ISO 8601, a `Date`, or the position of an event. The state is that after the last event at or before it
   * @throws FlagsError `invalid_input` for an invalid time; `closed`. The methods of the view reject with
   * `invalid_input` for a time before the first event
   * @example
   * const view = flags.history.asOf('2026-01-02T14:03:00Z');
   * const saw = await view.isEnabled('checkout', { userId: '42' }, { environment: 'production' });
   */
  asOf(time: string | Date | { readonly position: string }): FlagsView {
    const engine = this[ENGINE];
    engine.lifetime.assertOpen();
    return asOf(engine, time);
  }
}
