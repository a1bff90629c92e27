import type { ChangeContext, ChangeSetRef } from '../../base/common.types.js';
import type { NeededApproval } from '../../kernel/changes/change-set.types.js';
import type { RequestInput, RequestSummary } from './change-request.js';
import type { ApprovalPolicy } from './policy.js';
import type { Change } from './vocabulary.js';

/** The approval of one person. */
export interface Approval extends Pick<RequestSummary['approvals'][number], 'actor' | 'at' | 'reason'> {
  /** Whether what was approved is still what would happen. False: it does not count. */
  readonly current: boolean;
}

/** A change request in a list, as it was at the last decision about it. */
export interface ListedChangeRequest extends Omit<RequestSummary, 'approvals' | 'effect' | 'bytes'> {
  readonly approvals: readonly Approval[];
  /** Pass it as `ifRevision`. */
  readonly revision: number;
}

/** Changes that wait for a time, for approval, or for both. They are applied once, as one change set. */
export interface ChangeRequest extends ListedChangeRequest {
  readonly changes: readonly RequestedChange<string>[];
  /** The approval that its changes need now; null if they need none, would be refused, or are applied. */
  readonly approval: NeededApproval | null;
  /**
   * A hash of what clients of protected environments would see, which an approval names. null if the changes would be
   * refused now.
   */
  readonly effect: string | null;
}

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
