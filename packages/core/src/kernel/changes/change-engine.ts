import type { Awaitable, ChangeContext } from '../../base/common.types.js';
import type { Lifetime } from '../../base/lifetime.js';
import type { Documents } from '../../storage/document-reader.js';
import type { Actor, CommittedDocuments, PreparedChange } from '../change.js';
import type { DueRunner } from '../due/runner.js';
import type { Engine } from '../engine.js';
import type { Feed } from '../log/feed.js';
import type {
  AuthorizeChanges,
  GatedEffect,
  NeededApproval,
  PlannedDocument,
  SegmentUseRequest,
} from './change-set.types.js';
import type { ExpectedRevision } from './refusals.js';
import type { ChangeSetUnit, DocumentChange } from './unit-of-work.js';

/** The validators of inputs, by the names of their schemas. Each throws `invalid_input`. */
export interface AnyValidators {
  readonly [name: string]: ((input: never) => unknown) | undefined;
}

/** The services of the kernel for operations. The engines of all actors share it. Each feature adds its parts. */
export interface SharedEngine extends Engine {
  readonly validate: AnyValidators;
  readonly lifetime: Lifetime;
  readonly writer: ChangeSetWriter;
  readonly rules: Required<Rules>;
  readonly due: DueRunner;
  readonly feed: Feed;
  /** The name of this node. */
  readonly instance: string;
  /** Milliseconds between two polls for events; 0 without polling. */
  readonly pollInterval: number;
  readonly onError: (error: unknown) => void;
  /** Starts the background work: the runner of what is due, and the notifications of the storage. */
  readonly start: () => void;
  /** Stops everything, and closes the storage. */
  readonly release: () => Promise<void>;
}

/** The engine of an actor, which commits. */
export interface ChangeEngine extends SharedEngine {
  /** Runs a change set, attributed to the engine's actor unless the context names another one. */
  readonly run: (changes: readonly PreparedChange[], context: UnattributedContext | undefined) => Promise<CommittedSet>;
  /** Decides a change set without a commit. */
  readonly plan: (changes: readonly PreparedChange[], context?: UnattributedContext) => Promise<DecidedSet>;
  /** Whether a set is committed already. Rejects with `id_taken` if another set has its id. */
  readonly isCommitted: (context: UnattributedContext) => Promise<boolean>;
  /** Checks the changes of the engine's actor. */
  readonly authorize: AuthorizeChanges | undefined;
}

/** The only writer of documents. */
export interface ChangeSetWriter {
  /** Decides and commits changes in their order: all of them, or none. */
  readonly run: (changes: readonly PreparedChange[], context: SetContext) => Promise<CommittedSet>;
  /** Decides changes without a commit. */
  readonly plan: (changes: readonly PreparedChange[], context: SetContext) => Promise<DecidedSet>;
  /** Whether a set is committed already. Rejects with `id_taken` if another set has its id. */
  readonly isCommitted: (context: SetContext) => Promise<boolean>;
  /**
   * Deletes documents whose events remain, in one commit without events. If another process changes one of them meanwhile,
   * none is deleted.
   */
  readonly prune: <State>(
    documents: Documents<State>,
    ids: readonly string[],
    isOld: (state: State) => boolean,
  ) => Promise<void>;
}

/**
 * The rules of a feature about change sets of all features. The writer asks before the decision what to lock, and after it
 * whether the set may be committed.
 */
export interface Rules {
  /** Whether sets run one after the other now, because all of them write one document. Does not read the storage. */
  readonly isActive?: () => boolean;
  /**
   * Makes the commit of a decided set expect a document that the rule depends on, or write it.
   *
   * @param isFirst whether no earlier attempt has conflicted: the documents of the replica may be current
   */
  readonly enter?: (unit: ChangeSetUnit, isFirst: boolean) => Promise<void>;
  /**
   * Called after {@link enter}. Rejects with `approval_required`. Resolves to whether the
   * set lacks an approval, and bypasses it.
   */
  readonly assertApproved?: (decided: DecidedSet, context: Pick<SetContext, 'bypass'>) => Promise<boolean>;
  /** Returns the approval that a decided set needs; null if it needs none. */
  readonly findApproval?: (decided: DecidedSet) => Promise<NeededApproval | null>;
  /** Returns the segments that a decided set starts to use, for `authorize`. The commit checks what it reads. */
  readonly findSegmentUses?: (
    decided: DecidedSet,
    documents: readonly PlannedDocument[],
  ) => Promise<readonly SegmentUseRequest[]>;
  /** Called after a commit with the ids of the documents that ended together with their usage. Never rejects. */
  readonly onEnded?: (ids: readonly string[]) => Promise<void>;
}

/** Returns why a set lacks the approval that it needs; undefined if it has the approval. */
export type SetApproval = (found: GatedEffect) => string | undefined;

/** A context that may lack an actor. */
export type UnattributedContext = Omit<SetContext, keyof Actor> & Pick<ChangeContext, 'actor'>;

/** The id that a caller gives to a change set, and the hash of its changes. */
export interface RepetitionKey {
  /** A UUID in lower case. */
  readonly id: string;
  readonly hash: string;
}

/** The context of a change set. */
export interface SetContext extends Actor {
  /** The id that the caller gives to the set, which is committed only once. */
  readonly repetition?: RepetitionKey | undefined;
  readonly reason?: string | undefined;
  /** Documents that must be at these revisions. */
  readonly expected?: readonly ExpectedRevision[] | undefined;
  /** The cause of the set, if it was not a call of its actor. The events of the set show it. */
  readonly origin?: string | undefined;
  /**
   * Called after every decision of the changes, to write what ends with the set, such as the change request that it
   * applies. Returns the approval of the set, if it has one. An error refuses the set.
   */
  readonly finishSet?:
    | ((unit: ChangeSetUnit, by: Actor, set: SetIdentity) => Awaitable<SetApproval | undefined>)
    | undefined;
  /** Why the set does not wait for an approval that it lacks. */
  readonly bypass?: string | undefined;
  /** Called after every decision, before its commit. */
  readonly authorize?: AuthorizeChanges | undefined;
}

/** The id and the time of a set, before its commit. */
export interface SetIdentity {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
}

/** A change set after its commit. */
export interface CommittedSet {
  /** null if the set changed nothing. */
  readonly id: string | null;
  /** ISO 8601. */
  readonly at: string;
  readonly actor: string;
  /** The documents after the set. Undefined for a repeated id: the events hold the first result. */
  readonly documents: CommittedDocuments | undefined;
}

/** A decided set, before its commit. */
export interface DecidedSet {
  readonly unit: ChangeSetUnit;
  readonly writes: readonly DocumentChange[];
  /** Called if it needs approval, before its commit. Absent: it has none. */
  readonly approval?: SetApproval | undefined;
}
