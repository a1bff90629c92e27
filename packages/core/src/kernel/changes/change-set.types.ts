import type { Awaitable, ChangeContext, Person, TokenKind } from '../../base/common.types.js';
import type { ChangeAuthor } from '../change.js';
import type { FlagsEvent } from '../log/event.types.js';

/** Names a stored document: `flag/checkout`, `project/default`, `segment/7`. */
export type DocumentName = `${string}/${string}`;

/** The result of a change set. */
export interface ChangeSet {
  /** A UUID; null if the set changed nothing. */
  readonly id: string | null;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly actor: string;
  readonly reason: string | null;
  /** In the order of the changes. */
  readonly events: readonly FlagsEvent[];
  /** The new revision of every document that has events. */
  readonly revisions: Readonly<Record<DocumentName, number>>;
}

/** The approval that changes need. */
export interface NeededApproval {
  /** How many people must approve. */
  readonly required: number;
  readonly environments: readonly string[];
}

/** What a decided set does in protected environments. */
export interface GatedEffect {
  /** SHA-256 of it, in base64url. Equal for equal effects. */
  readonly effect: string;
  /** The approval that it needs; null if it needs none. */
  readonly approval: NeededApproval | null;
}

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
  | { readonly id: string; readonly name: string; readonly kind: TokenKind; readonly createdBy?: Person | null };

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
