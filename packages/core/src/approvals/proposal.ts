import type { FlagRef } from '../base/common.types.js';
import type { DomainEvent } from '../base/domain-event.js';
import type { ChangeAuthor } from '../schedules/schedule.js';

export const PROPOSAL_STATES = ['open', 'approved', 'scheduled', 'applied', 'rejected', 'withdrawn', 'lapsed'] as const;

/**
 * The state of a proposal. `open`: it waits for approvals. `approved`: it may be applied. `scheduled`: it will be applied
 * at a time. `lapsed`: its time has passed, or its schedule has failed or expired.
 */
export type ProposalStatus = (typeof PROPOSAL_STATES)[number];

/** The states of a proposal that may still be applied. */
export type OpenStatus = Extract<ProposalStatus, 'open' | 'approved' | 'scheduled'>;

/** Whether a proposal in this state may still be applied. */
export function isOpen(state: ProposalStatus): state is OpenStatus {
  return state === 'open' || state === 'approved' || state === 'scheduled';
}

/** The approval of one person, as it is stored. */
export interface StoredApproval {
  readonly actor: ChangeAuthor;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly reason: string | null;
  /** Of what was approved; null if that needed no approval. */
  readonly digest: string | null;
}

/** The approval that a decided set needs. */
export interface NeededApproval {
  /** How many people must approve. */
  readonly required: number;
  /** SHA-256 of what the set changes for clients of protected environments. Equal for equal changes. */
  readonly digest: string;
  readonly environments: readonly string[];
  /** The projects whose clients would see it. */
  readonly projects: readonly string[];
}

/** What lists show. */
export interface ProposalSummary {
  readonly id: string;
  readonly state: ProposalStatus;
  readonly author: ChangeAuthor;
  readonly createdAt: string;
  readonly reason: string;
  /** How many people must approve it, when that was last computed. */
  readonly required: number;
  readonly approvals: readonly StoredApproval[];
  /** The projects that it changes, and those whose clients would see it; null: the instance. */
  readonly projects: readonly (string | null)[];
  readonly flags: readonly FlagRef[];
  readonly environments: readonly string[];
  /** ISO 8601, UTC, milliseconds. */
  readonly expiresAt: string;
  readonly schedule: string | null;
  readonly changeSet: string | null;
  readonly endedAt: string | null;
  /** The size of the changes, as JSON. */
  readonly bytes: number;
}

/** The stored state of a proposal: one document. */
export interface ProposalState extends ProposalSummary {
  /** The version of the form of the changes. */
  readonly v: 1;
  readonly changes: readonly unknown[];
  /** Of the changes and the time, for a repeated id. */
  readonly hash: string;
}

type Named<State extends ProposalStatus = ProposalStatus> = { readonly id: string; readonly state: State };
/** Absent if the proposal is about one project, or the instance: that of the event. */
type Spanned = { readonly projects?: ProposalSummary['projects'] };
type End = { readonly endedAt: string; readonly changeSet: string | null };

/** The events tell the states, never the changes, nor the ids of people: those are in the document. */
export type ProposalEvent =
  | DomainEvent<'proposal-created', Named<OpenStatus> & Spanned, null>
  | DomainEvent<'proposal-decided', Named<OpenStatus> & Spanned, Named<OpenStatus>>
  | DomainEvent<'proposal-ended', Named & Spanned & End, Named<OpenStatus>>;
