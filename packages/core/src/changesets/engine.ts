import type { Awaitable, ChangeContext } from '../base/common.types.js';
import type { PayloadReader } from '../definitions/payload.js';
import type { Feed } from '../events/feed.js';
import type { Settings } from '../flags.js';
import type { Validators } from '../input-schemas.js';
import type { Replica } from '../replica/replica.js';
import type { DocumentKey, Storage } from '../storage/port.js';
import type { UsageStorage } from '../storage/usage-port.js';
import type { TokenVerifier } from '../tokens/token-verification.operations.js';
import type { UsageWriter } from '../usage/usage-writer.js';
import type { AuthorizeChanges } from './change-set.types.js';
import type { ChangeSetLog } from './change-set-log.js';
import type { DocumentChange, DocumentReader } from './documents.js';
import type { ExpectedRevision } from './refusals.js';
import type { CommittableUnit, UnitOfWork } from './unit-of-work.js';

/** The dependencies of operations. Engines of different actors differ in `run`, `plan` and `authorize` only. */
export interface Engine extends DocumentReader, TokenVerifier {
  readonly settings: Settings;
  readonly validate: Validators;
  readonly storage: Storage;
  readonly usage: UsageStorage;
  readonly usageWriter: UsageWriter;
  readonly feed: Feed;
  readonly replica: Replica;
  readonly log: ChangeSetLog;
  readonly payloads: PayloadReader;
  /** Runs a change set, attributed to the engine's actor unless the context names another one. */
  readonly run: (changes: readonly PreparedChange[], context: UnattributedContext | undefined) => Promise<CommittedSet>;
  /** Decides a change set without a commit. */
  readonly plan: (changes: readonly PreparedChange[], context?: UnattributedContext) => Promise<DecidedSet>;
  readonly now: () => Date;
  /** The maximum lifetime of a new token in milliseconds; undefined: no limit. */
  readonly maxTokenLifetime: number | undefined;
  readonly newId: () => string;
  readonly isUser: (userId: number) => Awaitable<boolean>;
  /** Checks the changes of the engine's actor. */
  readonly authorize: AuthorizeChanges | undefined;
}

/** A context that may lack an actor. */
export type UnattributedContext = Omit<SetContext, 'actor' | 'actorToken'> & Pick<ChangeContext, 'actor'>;

/** The context of a change set. */
export interface SetContext {
  readonly actor: string;
  /** The API token that the actor uses. */
  readonly actorToken?: { readonly id: string; readonly kind: string };
  /** The id that the caller gives to the set. A repeated id is committed only once. */
  readonly id?: string | undefined;
  readonly reason?: string | undefined;
  /** Documents that must be at these revisions. */
  readonly expected?: readonly ExpectedRevision[] | undefined;
  /** Called after every decision, before its commit. */
  readonly authorize?: AuthorizeChanges | undefined;
}

/** A change with a valid input, ready to be decided any number of times. */
export interface PreparedChange<Result = unknown> {
  /** The document that the change affects. */
  readonly subject: DocumentKey;
  /** The document that the change locks: other changes of it wait. Default: the subject. */
  readonly lock?: DocumentKey;
  /** The document that `ifRevision` refers to. Default: the subject. */
  readonly revisionOf?: DocumentKey;
  readonly ifRevision?: number | readonly number[] | undefined;
  /** A JSON Pointer to the change in the caller's input, which refusals name. Absent for a single operation. */
  readonly path?: string;
  /** The operation, which the planned events name. Absent for an undo and an import. */
  readonly op?: string;
  /**
   * Decides the change, and writes to the unit. Runs again after a conflict, so the preparation must create times and
   * ids.
   */
  readonly decide: (unit: UnitOfWork, context: SetContext) => Awaitable<void>;
  /** Returns the result of the operation from the documents after the commit. */
  readonly result: (committed: DocumentReader) => Awaitable<Result>;
}

/** A change set after its commit. */
export interface CommittedSet {
  /** null if the set changed nothing. */
  readonly id: string | null;
  /** ISO 8601. */
  readonly at: string;
  readonly actor: string;
  /** The documents after the set. */
  readonly documents: DocumentReader;
}

/** A decided set, before its commit. */
export interface DecidedSet {
  readonly unit: CommittableUnit;
  readonly writes: readonly DocumentChange[];
}
