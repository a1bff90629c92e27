import type { ChangeContext, FlagRef, ListPage, PageQuery } from '../base/common.types.js';
import type { Change } from '../changesets/change-set.types.js';
import type { ChangeAuthor } from '../schedules/schedule.js';
import type { ApprovalPolicy } from './policy.js';
import type { ProposalStatus } from './proposal.js';

/** Changes that wait for the approval of other people. */
export interface Proposal {
  /** A UUID. */
  readonly id: string;
  readonly state: ProposalStatus;
  readonly changes: readonly ProposedChange<string>[];
  /** They cannot approve it. */
  readonly author: ChangeAuthor;
  readonly createdAt: string;
  readonly reason: string;
  /** How many people must approve it, when that was last computed; 0: nobody. */
  readonly required: number;
  readonly approvals: readonly Approval[];
  /** The projects that it is about; null: the instance. */
  readonly projects: readonly (string | null)[];
  readonly flags: readonly FlagRef[];
  readonly environments: readonly string[];
  /** When it lapses unless it was applied: ISO 8601, UTC, milliseconds. */
  readonly expiresAt: string;
  /** The id of the last schedule that was to apply it; null without one. */
  readonly schedule: string | null;
  /** The id of the change set that applied it; null if it was not applied, or changed nothing. */
  readonly changeSet: string | null;
  /** When it was applied, rejected, withdrawn, or lapsed; null before. */
  readonly endedAt: string | null;
  /** Pass it as `ifRevision`. */
  readonly revision: number;
}

/** The approval of one person. */
export interface Approval {
  readonly actor: ChangeAuthor;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly reason: string | null;
  /** Whether what was approved is still what would happen. False: it has lapsed, and does not count. */
  readonly current: boolean;
}

/** A proposal in a list: without its changes, and without a look at what they would do now. */
export type ListedProposal = Omit<Proposal, 'changes' | 'approvals'> & {
  readonly approvals: readonly Omit<Approval, 'current'>[];
};

/** A change of a proposal: one of a change set, or a new approval policy. */
export type ProposedChange<Own extends string = never> =
  | Change<Own>
  | { readonly op: 'setApprovalPolicy'; readonly input: ApprovalPolicy };

/** What somebody proposes. */
export interface NewProposal<Own extends string = never> {
  readonly changes: readonly ProposedChange<Own>[];
}

/** The reason, the id, the actor and the end of a proposal. */
export interface ProposalOptions {
  /** Why, for those who approve: at most 1000 characters. */
  readonly reason: string;
  /** The id of the proposal, a UUID, which makes the call safe to repeat. Default: a new one. */
  readonly id?: string | undefined;
  /** The author. Default: the instance's default actor. */
  readonly actor?: string | undefined;
  /** When it lapses: ISO 8601 with `Z` or an offset, at most 90 days ahead. Default: in 14 days. */
  readonly expiresAt?: string | undefined;
}

/** Names a proposal by its id. */
export interface ProposalRef {
  readonly proposal: string;
}

/** Selects proposals. All given members must match. */
export interface ProposalQuery {
  readonly state?: ProposalStatus | undefined;
  /** The proposal was about this project when it was made, or one of its flags is there now. */
  readonly project?: string | undefined;
  readonly flag?: string | undefined;
}

/** When a proposal is applied. */
export interface ApplyProposalOptions {
  /** As of `createSchedule`. Default: now. */
  readonly at?: string | undefined;
  /** As of `createSchedule`. */
  readonly notAfter?: string | undefined;
}

/** The actor, the reason and the expected revision of a decision. */
export type DecisionContext = Omit<ChangeContext, 'id' | 'bypassApproval'>;

/** Operations on the approvals that changes need, and on proposals. */
export interface ApprovalOperations<Own extends string = never> {
  /**
   * Names the environments whose changes need approval, and how many people must approve. It replaces the whole policy.
   * While it names an environment, every change that its clients could see is refused with `approval_required`, unless
   * it only switches flags off. An environment that loses approvals needs the approval that it loses.
   *
   * @throws FlagsError `invalid_input`, `approval_required`
   * @example
   * await flags.setApprovalPolicy({ environments: { production: { required: 1 } } });
   */
  setApprovalPolicy(
    policy: ApprovalPolicy,
    context?: Omit<ChangeContext, 'id' | 'ifRevision'>,
  ): Promise<ApprovalPolicy>;

  /**
   * Returns the environments whose changes need approval: none in a new store.
   *
   * @example
   * const { environments } = await flags.getApprovalPolicy();
   */
  getApprovalPolicy(): Promise<ApprovalPolicy>;

  /**
   * Proposes changes, or a rollout, for the approval of other people. They are planned now, so a refusal now is one now,
   * and decided anew when somebody applies them. What needs no approval is approved at once.
   *
   * With an `id` that was used before by the same author, for the same changes and time, it returns that proposal as it
   * is now.
   *
   * @param proposal at least one change, which may also be `setApprovalPolicy`; or the strategy and steps of a rollout
   * @throws FlagsError as `apply` or `startRollout`; `invalid_input` also without a reason, and beyond 1,000 open
   * proposals or 64 MiB of them; `id_taken`
   * @example
   * const changes = [{ op: 'enable', ref: production } as const];
   * const { id } = await flags.as({ name: 'Ada', id: 'u-7' }).createProposal({ changes }, { reason: 'Launch' });
   */
  createProposal(proposal: NewProposal<Own>, options: ProposalOptions): Promise<Proposal>;

  /**
   * Returns a proposal, and whether its approvals still hold. One that has ended exists for 90 days more.
   *
   * @throws FlagsError `proposal_not_found`
   * @example
   * const { state, approvals } = await flags.getProposal({ proposal: id });
   */
  getProposal(ref: ProposalRef): Promise<Proposal>;

  /**
   * Lists proposals by id, which is the order of their creation unless callers chose the ids.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items } = await flags.listProposals({ state: 'open', project: 'default' });
   */
  listProposals(query?: ProposalQuery, page?: PageQuery): Promise<ListPage<ListedProposal>>;

  /**
   * Approves what an open proposal would do now, as one person. The author cannot. People are compared by the ids that
   * `flags.as` gets, otherwise by their names. The second approval of a person replaces the first. An approval lapses
   * when clients of a protected environment would see another effect than the approved one.
   *
   * @throws FlagsError `proposal_not_found`, `own_proposal`, `proposal_not_open`, `proposal_lapsed`, `revision_mismatch`;
   * `forbidden` for an API token; as `apply`, if the changes would be refused
   * @example
   * await flags.as({ name: 'Grace', id: 'u-9' }).approveProposal({ proposal: id });
   */
  approveProposal(ref: ProposalRef, context?: DecisionContext): Promise<Proposal>;

  /**
   * Ends a proposal that is not applied, and cancels its schedule. Repeated, it changes nothing.
   *
   * @throws FlagsError `proposal_not_found`, `proposal_not_open`, `proposal_lapsed`, `revision_mismatch`; `forbidden` for
   * an API token
   * @example
   * await flags.as('grace@example.org').rejectProposal({ proposal: id }, { reason: 'Not on a Friday' });
   */
  rejectProposal(ref: ProposalRef, context?: DecisionContext): Promise<Proposal>;

  /**
   * Takes back a proposal that is not applied, and cancels its schedule. Repeated, it changes nothing.
   *
   * @throws FlagsError `proposal_not_found`, `proposal_not_open`, `proposal_lapsed`, `revision_mismatch`
   * @example
   * await flags.withdrawProposal({ proposal: id });
   */
  withdrawProposal(ref: ProposalRef, context?: DecisionContext): Promise<Proposal>;

  /**
   * Applies an approved proposal as one change set, now or at a time. Its changes are decided anew. It is refused if its
   * approvals have lapsed or are too few.
   *
   * @param context `id`: of the change set, or of the schedule; it makes the call safe to repeat
   * @throws FlagsError as `apply` or `startRollout`; `proposal_not_found`, `proposal_not_open`, `approval_required` (too
   * few approvals), `proposal_lapsed`, `schedules_disabled` with `at`
   * @example
   * await flags.applyProposal({ proposal: id });
   */
  applyProposal(
    ref: ProposalRef,
    options?: ApplyProposalOptions,
    context?: Omit<ChangeContext, 'bypassApproval'>,
  ): Promise<Proposal>;
}
