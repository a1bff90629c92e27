import type { Awaitable, ChangeSetRef, FlagRef, ListPage, PageQuery, ProjectRef } from '../base/common.types.js';
import type { PartDifference } from '../base/parts.js';
import type {
  ContextArgument,
  EnvironmentChoice,
  EvaluatedVariant,
  EvaluationOptions,
  FlagExplanation,
  VariantOptions,
} from '../evaluation/evaluation.types.js';
import type { FlagDetail } from '../flags/flag.types.js';
import type { ChangeSet } from '../changesets/change-set.types.js';

/** Selects the history of a flag, of a project, or of the whole instance. */
export type HistoryRef = FlagRef | ProjectRef | Readonly<Record<string, never>>;

/** The actor, the reason and the check of an undo. */
export interface UndoOptions {
  /** The id of the undo, a UUID, which makes the call safe to repeat, as in {@link ChangeContext.id}. */
  readonly id?: string;
  /** The actor that the event log records. Default: the instance's default actor. */
  readonly actor?: string;
  /** The reason of the undo, at most 1000 characters. */
  readonly reason?: string;
  /** Why it does not wait for approval, as in {@link ChangeContext.bypassApproval}. */
  readonly bypassApproval?: string;
  /** Called with the set before anything is decided. Throws or rejects to refuse the undo. */
  readonly authorize?: (set: ChangeSet) => Awaitable<void>;
}

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
  isEnabled<Given>(flag: string, context?: ContextArgument<Given>, options?: EvaluationOptions): Promise<boolean>;
  getVariant<Given>(
    flag: string,
    context?: ContextArgument<Given>,
    options?: VariantOptions,
  ): Promise<EvaluatedVariant>;
  explain<Given>(flag: string, context?: ContextArgument<Given>, options?: EnvironmentChoice): Promise<FlagExplanation>;
}

/** Operations that read the past. */
export interface HistoryOperations {
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
   * A page has at most `limit` sets (default: 100, because the log grows without end), and at most 1 MiB of JSON but at
   * least one set.
   *
   * @throws FlagsError `invalid_input`, `project_not_found`, `flag_not_found` (unless the log knows it)
   * @example
   * const { items, next } = await flags.listHistory({ project: 'default', flag: 'checkout' }, { limit: 20 });
   */
  listHistory(ref?: HistoryRef, page?: PageQuery): Promise<ListPage<HistoryEntry>>;

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
