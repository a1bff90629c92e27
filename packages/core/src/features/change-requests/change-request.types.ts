import type { ChangeContext, ChangeSetRef, FlagRef } from '../../base/common.types.js';
import type { Change } from '../../changesets/change-set.types.js';
import type { ChangeAuthor } from '../../engine/engine.js';
import type { Refusal } from '../../errors.js';
import type { ChangeRequestStatus, NeededApproval, RequestInput, RequestSummary } from './change-request.js';
import type { ApprovalPolicy } from './policy.js';

/** Changes that wait for a time, for approval, or for both. They are applied once, as one change set. */
export interface ChangeRequest {
  /** A UUID. */
  readonly id: string;
  readonly state: ChangeRequestStatus;
  readonly changes: readonly RequestedChange<string>[];
  /** Who made it. The author cannot approve it. */
  readonly author: ChangeAuthor;
  /** Who has set its time, or has applied it: the actor of its change set. null before. */
  readonly appliedBy: ChangeAuthor | null;
  readonly createdAt: string;
  readonly reason: string | null;
  /** When it is applied by itself: ISO 8601, UTC, milliseconds. null: when a person applies it. */
  readonly at: string | null;
  /** After this time it expires instead; null without a time. */
  readonly notAfter: string | null;
  /** When it expires unless it was applied; null with a time. */
  readonly expiresAt: string | null;
  /** Whether it fails if a document that it touches has other content than when it was made. */
  readonly ifUnchanged: boolean;
  /** How many people must approve it. */
  readonly required: number;
  readonly approvals: readonly Approval[];
  /** The approval that its changes need now; null if they need none, would be refused, or are applied. */
  readonly approval: NeededApproval | null;
  /**
   * A hash of what clients of protected environments would see, which an approval names. null if the changes would be
   * refused now.
   */
  readonly effect: string | null;
  /** The projects that it is about; null: the instance. */
  readonly projects: readonly (string | null)[];
  readonly flags: readonly FlagRef[];
  readonly environments: readonly string[];
  /** When it was applied, failed, rejected, withdrawn, or expired; null before. */
  readonly endedAt: string | null;
  /** Milliseconds between `at` and the commit; null without a time. */
  readonly lateBy: number | null;
  /** The id of the change set that applied it; null if it was not applied, or nothing was left to change. */
  readonly changeSet: string | null;
  /** Why it failed; null unless it failed. */
  readonly failure: Refusal | null;
  /** Pass it as `ifRevision`. */
  readonly revision: number;
}

/** The approval of one person. */
export interface Approval extends Pick<RequestSummary['approvals'][number], 'actor' | 'at' | 'reason'> {
  /** Whether what was approved is still what would happen. False: it does not count. */
  readonly current: boolean;
}

/** A change request in a list, as it was at the last decision about it. */
export type ListedChangeRequest = Omit<ChangeRequest, 'changes' | 'approval' | 'effect'>;

/** A change of a request: one of a change set, a new approval policy, or, alone, the undo of a change set. */
export type RequestedChange<Own extends string = never> =
  | Change<Own>
  | { readonly op: 'setApprovalPolicy'; readonly input: ApprovalPolicy }
  | { readonly op: 'undoChangeSet'; readonly ref: ChangeSetRef };

/** A change request to make. */
export interface NewChangeRequest<Own extends string = string> extends Omit<RequestInput, 'changes'> {
  readonly changes: readonly RequestedChange<Own>[];
}

/** Options of a new change request. */
export interface ChangeRequestOptions extends Omit<NewChangeRequest, 'changes'> {
  /** The author. Default: the instance's default actor. */
  readonly actor?: string | undefined;
}

/** Names a change request by its id. */
export interface ChangeRequestRef {
  readonly changeRequest: string;
}

/** The actor, the reason and the expected revision of a decision. */
export type DecisionContext = Omit<ChangeContext, 'id' | 'bypassApproval'>;

/** The context of an application. Its `id` is that of the change set. */
export type ApplyContext = Omit<ChangeContext, 'bypassApproval'>;
