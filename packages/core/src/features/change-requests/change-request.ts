import type { FlagRef } from '../../base/common.types.js';
import type { Refusal } from '../../base/errors.js';
import type { ChangeAuthor } from '../../kernel/engine.js';

export const REQUEST_STATES = ['open', 'approved', 'applied', 'failed', 'rejected', 'withdrawn', 'expired'] as const;

/**
 * The state of a change request. `open`: it waits for approvals. `approved`: it has what it needs, and waits for its time
 * or for a person. `failed`: it was refused when it was due. `expired`: it was not applied in time.
 */
export type ChangeRequestStatus = (typeof REQUEST_STATES)[number];

/** The states of a request that may still be applied. */
export type OpenStatus = Extract<ChangeRequestStatus, 'open' | 'approved'>;

/** Whether a request in this state may still be applied. */
export function isOpen(state: ChangeRequestStatus): state is OpenStatus {
  return state === 'open' || state === 'approved';
}

/** The approval of one person, as it is stored. */
export interface StoredApproval {
  readonly actor: ChangeAuthor;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly reason: string | null;
  /** The effect that was approved. */
  readonly effect: string;
}

/** When a request is applied. */
export interface ChangeRequestTime {
  /** When it is applied by itself: ISO 8601 with `Z` or an offset, at most a year ahead. A past time is due at once. */
  readonly at?: string | undefined;
  /**
   * If it could not be applied until this time, it expires: at most 24 hours after `at`. Default: one hour after it.
   */
  readonly notAfter?: string | undefined;
}

/** A change request to make, with changes that are not validated yet. */
export interface RequestInput extends ChangeRequestTime {
  readonly changes: readonly unknown[];
  /** Why: at most 1,000 characters. Its change set has the same reason. */
  readonly reason?: string | undefined;
  /** Fail if a document that the changes touch has other content by then. Default: false. */
  readonly ifUnchanged?: boolean | undefined;
  /** When a request without a time expires: as `at`, at most 90 days ahead. Default: in 14 days. */
  readonly expiresAt?: string | undefined;
  /** The id of a request that this one replaces. It ends as `withdrawn`; its approvals are not carried over. */
  readonly replaces?: string | undefined;
  /** The id of the request, a UUID, which makes the call safe to repeat. Default: a new one. */
  readonly id?: string | undefined;
}

/** What a person approves. */
export interface ChangeRequestApproval {
  /** The `effect` of the request that the person has seen. */
  readonly effect: string;
}

/** Selects change requests. All given members must match. */
export interface ChangeRequestQuery {
  readonly state?: ChangeRequestStatus | undefined;
  /** The request was about this project when it was made, or one of its flags is there now. */
  readonly project?: string | undefined;
  readonly flag?: string | undefined;
}

/** The times of a request: ISO 8601, UTC, milliseconds. */
export interface RequestTimes {
  /** When it is applied by itself; null: when a person applies it. */
  readonly at: string | null;
  /** After this time it expires instead; null without a time. */
  readonly notAfter: string | null;
  /** When it expires unless it was applied; null with a time. */
  readonly expiresAt: string | null;
}

/** What lists show. */
export interface RequestSummary extends RequestTimes {
  /** A UUID. */
  readonly id: string;
  readonly state: ChangeRequestStatus;
  /** Who made it. The author cannot approve it. */
  readonly author: ChangeAuthor;
  /** Who has set its time, or has applied it: the actor of its change set. null before. */
  readonly appliedBy: ChangeAuthor | null;
  readonly createdAt: string;
  readonly reason: string | null;
  /** Whether it fails if a document that it touches has other content than when it was made. */
  readonly ifUnchanged: boolean;
  /** How many people must approve it. */
  readonly required: number;
  readonly approvals: readonly StoredApproval[];
  /** What it does in protected environments, at the last decision. */
  readonly effect: string;
  /** The projects of its changes, and of the documents that they touched when it was made; null: the instance. */
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
  /** The size of the changes, as JSON. */
  readonly bytes: number;
}

/** The stored state of a request: one document. */
export interface RequestState extends RequestSummary {
  /** The version of the form of the changes. */
  readonly v: 1;
  readonly changes: readonly unknown[];
  /** The hash of the changes, the times and the options. A call with a repeated id is compared with it. */
  readonly hash: string;
  /** With `ifUnchanged`: the hash of the content of every touched document, by `kind id`. */
  readonly contents?: Readonly<Record<string, string>>;
}

/** The most flags, and the most operations, that an event names. */
export const FLAGS_IN_EVENTS = 10;
