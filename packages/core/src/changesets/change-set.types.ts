import type { Awaitable, ChangeContext, ChangeSetRef } from '../base/common.types.js';
import type { ChangeAuthor } from '../engine/engine.js';
import type { EvaluatedVariant, EvaluationContext, ExplanationReason } from '../evaluation/evaluation.types.js';
import type { NeededApproval } from '../features/change-requests/change-request.js';
import type { FlagEffect } from '../flags/effect.decide.js';
import type { FlagsEvent } from '../log/event.types.js';
import type { ChangeSet, DocumentName } from '../log/history.types.js';
import type { Token } from '../tokens/token.types.js';
import type { ChangeOperationName, ChangeVocabulary } from './operations.js';

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

/** The id, the actor, the reason and the expected revisions of a change set. */
export interface ApplyOptions {
  /** The id of the change set, a UUID, which makes the call safe to repeat, as in {@link ChangeContext.id}. */
  readonly id?: string;
  /** The actor that the event log records. Default: the instance's default actor. */
  readonly actor?: string;
  /** The reason, at most 1000 characters. The events and the history show it. */
  readonly reason?: string;
  /** Why it does not wait for approval, as in {@link ChangeContext.bypassApproval}. */
  readonly bypassApproval?: string;
  /** The expected revisions of documents, whether the set changes them or not. */
  readonly ifRevision?: Readonly<Record<DocumentName, number>>;
}

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

/** A change set that is planned and not applied. */
export interface ChangePlan {
  readonly documents: readonly PlannedDocument[];
  /** The differences that clients would see, in code-point order of environments, then of flags. */
  readonly effects: readonly FlagEffect[];
  /** The approval that the changes need; null if they need none. */
  readonly approval: NeededApproval | null;
}

/** A document that a change set would write, in the order of the first change of each document. */
export interface PlannedDocument {
  /** `flag`, `project` or `segment`. */
  readonly kind: string;
  readonly id: string;
  /** The stored state as JSON; null if there is none. */
  readonly before: unknown;
  /** The state after the change set as JSON; null if the set deletes the document. */
  readonly after: unknown;
  readonly events: readonly PlannedEvent[];
}

/** An event that a change set would append. */
export interface PlannedEvent
  extends Pick<FlagsEvent, 'type' | 'project' | 'flag' | 'environment' | 'data' | 'before'> {
  /** The operation that causes the event. Absent in an undo and in an import. */
  readonly op?: string;
}

/** A decided change set, before its commit. */
export interface PlannedSet {
  readonly documents: readonly PlannedDocument[];
  /** The segments that strategies start to use. A segment that the set moves has one entry per project. */
  readonly segmentUses: readonly SegmentUseRequest[];
  /**
   * The projects whose clients would see the changes, those of children and of users of a segment included. Only where a
   * change request is applied, or gets its time.
   */
  readonly projects?: readonly string[];
}

/** A segment that a strategy starts to use. */
export interface SegmentUseRequest {
  readonly segment: number;
  /** The segment's project; null if the segment belongs to the instance. */
  readonly project: string | null;
}

/** Checks a decided change set before its commit. Throws or rejects to refuse it. */
export type AuthorizeChanges = (planned: PlannedSet) => Awaitable<void>;

/**
 * The option `due.authorize`: whether the author may still make these changes, asked when a change request or a step of a
 * rollout is due. False fails the request with `forbidden`, and pauses the rollout. After an error, or without an answer
 * within ten seconds, it is tried again, a request until `notAfter`.
 */
export type AuthorizeDue = (author: ChangeAuthor, planned: PlannedSet) => Awaitable<boolean>;

/** A person who makes changes, as a host names one. */
export interface GivenPerson {
  readonly name: string;
  /**
   * An id that stays when the name changes, as text or a finite number: 7 and `'7'` are one person. Approvals compare
   * people by it, and by name without one.
   */
  readonly id?: string | number | undefined;
}

/** Who makes changes: a name, a person, or an API token. */
export type GivenActor =
  | string
  | GivenPerson
  | (Pick<Token, 'id' | 'name' | 'kind'> & Partial<Pick<Token, 'createdBy'>>);

/** Options of `flags.as`. */
export interface ActorOptions {
  /**
   * Called with every change, plan, preview, undo and import, before its commit. An error refuses it and reaches the
   * caller; nothing changes then. If another process changes one of the documents meanwhile, the change is decided
   * again, and `authorize` is called with the new documents. Not called if nothing would change. Other changes of the
   * same documents wait for the result. It stays on what `as` returns for another actor, and is called first there.
   *
   * @example
   * flags.as('ada', { authorize: ({ documents }) => assertMayChange('ada', documents) });
   */
  readonly authorize?: AuthorizeChanges;
}

/** The environment and the contexts of a preview. */
export interface PreviewQuery {
  readonly environment: string;
  /** At most 1000. */
  readonly contexts: readonly EvaluationContext[];
  /** Ends the preview when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The evaluations that a change set would change: one entry for every changed flag, and for the flags that depend on
 * it.
 */
export interface ChangePreview {
  readonly flags: readonly FlagPreview[];
}

/** One flag's evaluations before and after a change set. */
export interface FlagPreview {
  readonly project: string;
  readonly flag: string;
  /** `enabled` counts the contexts for which the flag is on. */
  readonly before: { readonly enabled: number };
  readonly after: { readonly enabled: number };
  /** In the order of the query's contexts. */
  readonly contexts: readonly ContextPreview[];
}

/** One context's evaluation before and after a change set. */
export interface ContextPreview {
  readonly before: PreviewedEvaluation;
  readonly after: PreviewedEvaluation;
  /** One for each hashing strategy of the planned flag, whether the evaluation reaches the strategy or not. */
  readonly buckets: readonly PreviewBucket[];
}

/** A flag's state and variant for one context of a preview. */
export interface PreviewedEvaluation {
  readonly enabled: boolean;
  readonly variant: EvaluatedVariant;
  readonly reason: ExplanationReason;
}

/** The bucket of a context in a hashing strategy. */
export interface PreviewBucket {
  /** The strategy's id. */
  readonly strategy: string;
  /** 1–100; null if the context lacks the id that the strategy hashes. */
  readonly bucket: number | null;
  /** The percentage, 0–100. Buckets up to this number are in the rollout. */
  readonly rollout: number;
}

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
