import type { NeededApproval } from '../approvals/proposal.js';
import type { Awaitable, ChangeContext } from '../base/common.types.js';
import type { Lifetime } from '../base/lifetime.js';
import type { OwnConsumers } from '../consumers/consumer-runner.js';
import type { ConsumerEngine } from '../consumers/consumers.operations.js';
import type { Actor, CommittedDocuments, PreparedChange, UnitOfWork } from '../engine/engine.js';
import type { RollingFlags } from '../features/rollouts/rolling-flags.js';
import type { Validators } from '../input-schemas.js';
import type { DueRunner } from '../kernel/due/runner.js';
import type { EvaluationEngine } from '../replica/evaluation.operations.js';
import type { ScheduleClock, ScheduleEnd } from '../schedules/schedule.js';
import type { TokenVerifier } from '../tokens/token.js';
import type { ReportEngine } from '../usage/report.operations.js';
import type { UsageEngine } from '../usage/usage-over-time.operations.js';
import type { UsageWriter } from '../usage/usage-writer.js';
import type { AuthorizeChanges } from './change-set.types.js';
import type { ExpectedRevision } from './refusals.js';
import type { ChangeSetUnit, DocumentChange } from './unit-of-work.js';

/** The parts that the engines of all actors share. */
export interface SharedEngine extends EvaluationEngine, ReportEngine, UsageEngine, ConsumerEngine, TokenVerifier {
  readonly validate: Validators;
  readonly usageWriter: UsageWriter;
  readonly lifetime: Lifetime;
  readonly writer: ChangeSetWriter;
  readonly gate: ApprovalGate;
  readonly proposals: ProposalTracker;
  readonly schedules: ScheduleClock;
  readonly consumers: OwnConsumers;
  readonly due: DueRunner;
  /** The rollouts of the flags in memory. */
  readonly rolling: RollingFlags;
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
}

/** Decides which sets need approval. It is above the change sets, so the writer gets it. */
export interface ApprovalGate {
  /** Whether a policy protects an environment, as far as this node knows without a read. */
  readonly isActive: () => boolean;
  /**
   * Makes the commit of a decided set expect the policy. If the policy protects an environment, sets that clients could
   * see follow each other on all nodes.
   *
   * @param isFirst whether no earlier attempt has conflicted: the policy of the replica may be current
   */
  readonly enter: (unit: ChangeSetUnit, isFirst: boolean) => Promise<void>;
  /**
   * Called after {@link enter}. Resolves to whether an approval is missing and bypassed. Rejects with `approval_required`,
   * or as the approval of the context.
   */
  readonly assertApproved: (decided: DecidedSet, context: Pick<SetContext, 'bypass' | 'approval'>) => Promise<boolean>;
  /** Returns the approval that a decided set needs; undefined if it needs none. */
  readonly findNeeded: (decided: DecidedSet) => Promise<NeededApproval | undefined>;
}

/** Whether a set has the approval that it needs. May throw a refusal of its own. */
export type SetApproval = (needed: NeededApproval) => Awaitable<boolean>;

/** The proposals, as far as schedules need to know them. They are above the schedules, so the engine has them. */
export interface ProposalTracker {
  /** Returns the approval of the set that applies a proposal, and makes the commit expect the proposal as it is. */
  approvalOf(unit: Pick<UnitOfWork, 'read'>, proposal: string): Promise<SetApproval>;
  /** Ends the proposal of a schedule in the commit that ends the schedule, or makes it `approved` again. */
  follow(unit: UnitOfWork, proposal: string, end: ScheduleEnd): Promise<void>;
  /** Lapses proposals whose time has passed. */
  run(): Promise<void>;
}

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
  /** What has caused the set, if it was not its actor's call. Its events tell it. */
  readonly origin?: string | undefined;
  /**
   * Called after every decision of the changes, to write what ends with the set, such as the schedule that it applies.
   * An error refuses the set.
   */
  readonly conclude?: ((unit: ChangeSetUnit, set: SetIdentity) => Awaitable<void>) | undefined;
  /** Why the set does not wait for an approval that it needs. Without effect on a set that needs none. */
  readonly bypass?: string | undefined;
  /** Called after every decision that needs approval, before its commit. Absent: the set has no approval. */
  readonly approval?: SetApproval | undefined;
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
}
