import type { FlagRef } from '../base/common.types.js';
import type { DomainEvent } from '../base/domain-event.js';
import type { ChangeAuthor } from '../engine/engine.js';
import type { Refusal } from '../errors.js';

export const SCHEDULE_STATES = ['pending', 'applied', 'failed', 'expired', 'cancelled'] as const;

/**
 * The state of a schedule. `pending`: not yet. `applied`: at its time. `failed`: its changes were refused at its time.
 * `expired`: nobody applied it before `notAfter`. `cancelled`: by a caller.
 */
export type ScheduleStatus = (typeof SCHEDULE_STATES)[number];

export type { ChangeAuthor };

/** Why a schedule failed: the refusal of its changes. */
export type ScheduleFailure = Refusal;

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

/** The part of the engine that carries schedules out, for the parts of the engine below it. */
export interface ScheduleClock {
  readonly mode: RunSchedules;
  /** A schedule was made on this node: `at` in milliseconds since 1970. */
  expect(id: string, at: number): void;
}
