import type { FlagRef } from '../base/common.types.js';
import type { DomainEvent } from '../base/domain-event.js';
import type { ErrorCode, ErrorDetail } from '../errors.js';
import type { TokenKind } from '../tokens/token.types.js';

export const SCHEDULE_STATES = ['pending', 'applied', 'failed', 'expired', 'cancelled'] as const;

/**
 * The state of a schedule. `pending`: not yet. `applied`: at its time. `failed`: its changes were refused at its time.
 * `expired`: nobody applied it before `notAfter`. `cancelled`: by a caller.
 */
export type ScheduleStatus = (typeof SCHEDULE_STATES)[number];

/** Who has made a schedule, and is the actor of its change set. */
export interface ChangeAuthor {
  readonly name: string;
  /** The id of the person, if the host gives its users ids. */
  readonly id?: string;
  /** The API token that made it. */
  readonly token?: { readonly id: string; readonly kind: TokenKind };
}

/** Why a schedule failed: the refusal of its changes. */
export interface ScheduleFailure {
  readonly code: ErrorCode;
  readonly message: string;
  /** At most 10. */
  readonly details: readonly ErrorDetail[];
}

/** The end of a schedule. */
export interface ScheduleEnd {
  readonly state: Exclude<ScheduleStatus, 'pending'>;
  /** ISO 8601, UTC, milliseconds. */
  readonly endedAt: string;
  /** Milliseconds between `at` and the commit. Only of `applied`. */
  readonly lateBy?: number;
  /** The id of the change set that it became; null if it changed nothing. Only of `applied`. */
  readonly changeSet?: string | null;
  /** Only of `failed`. */
  readonly failure?: ScheduleFailure;
}

/** What lists show. */
export interface ScheduleSummary extends Partial<Omit<ScheduleEnd, 'state'>> {
  readonly id: string;
  readonly state: ScheduleStatus;
  /** ISO 8601, UTC, milliseconds. */
  readonly at: string;
  readonly notAfter: string;
  readonly ifUnchanged: boolean;
  readonly author: ChangeAuthor;
  readonly createdAt: string;
  readonly reason: string | null;
  /** The proposal that it applies. Absent without one. */
  readonly proposal?: string;
  /** Why it does not wait for approval. Absent if it has none of that kind. */
  readonly bypass?: string;
  /** The projects that the changes are about, when the schedule was made; null: the instance. */
  readonly projects: readonly (string | null)[];
  readonly flags: readonly FlagRef[];
  readonly environments: readonly string[];
  /** The size of the changes, as JSON. */
  readonly bytes: number;
}

/** The stored state of a schedule: one document. */
export interface ScheduleState extends ScheduleSummary {
  /** The version of the form of the changes. */
  readonly v: 1;
  readonly changes: readonly unknown[];
  /** Of the changes, the times and the options, for a repeated id. */
  readonly hash: string;
  /** With `ifUnchanged`: the hash of the content of every touched document, by `kind id`. */
  readonly contents?: Readonly<Record<string, string>>;
}

type Pending = { readonly id: string; readonly state: 'pending' };
/** Absent if the schedule is about one project, or the instance: that of the event. */
type Spanned = { readonly projects?: ScheduleSummary['projects'] };

/** The events tell the states, never the changes: those are in the document. */
export type ScheduleEvent =
  | DomainEvent<'schedule-created', Pending & Spanned & { readonly at: string }, null>
  | DomainEvent<'schedule-ended', { readonly id: string } & Spanned & ScheduleEnd, Pending>;

/** Whether schedules are carried out, by the option `runSchedules`. */
export type RunSchedules = boolean | 'elsewhere';

/** The schedules of the instance, as the node that carries them out last saw them. */
export interface ScheduleCounts {
  readonly pending: number;
  /** Those that have been due for more than ten seconds. */
  readonly overdue: number;
  /** The guarded rollouts that this node does not step, because it has no guard. */
  readonly unguarded: number;
}

/** The ids of what a round has carried out. */
export interface DueItems {
  readonly schedules: readonly string[];
  readonly rollouts: readonly string[];
}

/** The rollouts, as far as the runner of schedules needs to know them. */
export interface DueRollouts {
  /** Moves what is due, one step each. Resolves to the ids of the rollouts that moved. */
  run(): Promise<readonly string[]>;
  /** Returns when the next round is due, in milliseconds since 1970; infinite: the next poll is early enough. */
  nextAt(): number;
  /** The number of guarded rollouts that this node does not step. */
  unguarded(): number;
}

/** The part of the engine that carries schedules out, for the parts of the engine below it. */
export interface ScheduleClock {
  readonly mode: RunSchedules;
  /** A schedule was made on this node: `at` in milliseconds since 1970. */
  expect(id: string, at: number): void;
  /** Carries out what is due. Resolves to the ids of the schedules that ended, and of the rollouts that moved. */
  runDue(): Promise<DueItems>;
  /** Undefined on a node that does not carry schedules out. */
  counts(): ScheduleCounts | undefined;
  /** Stops the timer. */
  close(): void;
}
