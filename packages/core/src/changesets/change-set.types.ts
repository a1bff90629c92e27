import type { Awaitable, ChangeContext } from '../base/common.types.js';
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
