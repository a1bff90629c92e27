import type { Awaitable, ChangeContext, FlagRef, ListPage, PageQuery } from '../base/common.types.js';
import type { Change, PlannedSet } from '../changesets/change-set.types.js';
import type { ChangeAuthor, ScheduleFailure, ScheduleStatus } from './schedule.js';

/** Changes that are applied at a time, as one change set. */
export interface Schedule {
  /** A UUID. */
  readonly id: string;
  readonly state: ScheduleStatus;
  /** When it is due: ISO 8601, UTC, milliseconds. */
  readonly at: string;
  /** After this time it expires instead. */
  readonly notAfter: string;
  /** Whether it fails if a document that it touches has other content than when it was made. */
  readonly ifUnchanged: boolean;
  readonly changes: readonly Change<string>[];
  /** Its change set has the same actor. */
  readonly author: ChangeAuthor;
  readonly createdAt: string;
  readonly reason: string | null;
  /** The id of the proposal that it applies; null without one. */
  readonly proposal: string | null;
  /** The projects that the changes were about when it was made; null: the instance. */
  readonly projects: readonly (string | null)[];
  readonly flags: readonly FlagRef[];
  /** The environments that the changes are about. */
  readonly environments: readonly string[];
  /** When it was applied, failed, expired or was cancelled; null while it is pending. */
  readonly endedAt: string | null;
  /** Milliseconds between `at` and the commit; null unless it was applied. */
  readonly lateBy: number | null;
  /** The id of the change set that it became; null if it has not been applied, or changed nothing. */
  readonly changeSet: string | null;
  /** Why it failed; null unless it failed. */
  readonly failure: ScheduleFailure | null;
  /** Pass it as `ifRevision`. */
  readonly revision: number;
}

/** A schedule in a list: without its changes. */
export type ListedSchedule = Omit<Schedule, 'changes'>;

/** Names a schedule by its id. */
export interface ScheduleRef {
  readonly schedule: string;
}

/** The times, the id, the actor and the reason of a schedule. */
export interface ScheduleOptions {
  /** When the changes are applied: ISO 8601 with `Z` or an offset, at most a year ahead. A past time is due at once. */
  readonly at: string;
  /**
   * If nobody could apply them until this time, the schedule expires: at most 24 hours after `at`. Default: one hour
   * after it.
   */
  readonly notAfter?: string | undefined;
  /** Fail if a document that the changes touch has other content by then. Default: false. */
  readonly ifUnchanged?: boolean | undefined;
  /** The id of the schedule, a UUID, which makes the call safe to repeat. Default: a new one. */
  readonly id?: string | undefined;
  /** The author. Default: the instance's default actor. */
  readonly actor?: string | undefined;
  /** The reason of the change set, at most 1000 characters. */
  readonly reason?: string | undefined;
  /** Why it does not wait for approval, now and when it is due, as in {@link ChangeContext.bypassApproval}. */
  readonly bypassApproval?: string | undefined;
}

/** Selects schedules. All given members must match. */
export interface ScheduleQuery {
  readonly state?: ScheduleStatus | undefined;
  /** The changes were about this project when the schedule was made, or one of its flags is there now. */
  readonly project?: string | undefined;
  readonly flag?: string | undefined;
}

/**
 * The option `authorizeDue`: whether the author may still make these changes, asked when a schedule or a step of a rollout
 * is due. False fails the schedule with `forbidden`, and pauses the rollout. After an error, or without an answer within
 * ten seconds, it is tried again, a schedule until `notAfter`.
 */
export type AuthorizeDue = (author: ChangeAuthor, planned: PlannedSet) => Awaitable<boolean>;

/**
 * Operations on changes that are applied later.
 *
 * @typeParam Moved what `runDue` moves beside schedules
 */
export interface ScheduleOperations<Own extends string = never, Moved = never> {
  /**
   * Applies changes at a time, in one commit. They are planned now, so a refusal now is one now, and decided anew when
   * they are due. A node with `runSchedules: true` applies them within 5 seconds of `at`, by its own clock and exactly
   * once, or `runDue` does. A schedule cannot be changed: cancel it, and make another one.
   *
   * With an `id` that was used before by the same author, for the same changes, times and options, it returns that
   * schedule as it is now.
   *
   * @param changes as of `apply`, at least one
   * @throws FlagsError as `apply`; `schedules_disabled` without the option `runSchedules`; `invalid_input` also for the
   * times, and beyond 1,000 pending schedules or 64 MiB of them; `id_taken`
   * @example
   * await flags.createSchedule([{ op: 'enable', ref: production }], { at: '2030-05-01T07:00:00Z', reason: 'Launch' });
   */
  createSchedule(changes: readonly Change<Own>[], options: ScheduleOptions): Promise<Schedule>;

  /**
   * Returns a schedule. One that has ended exists for 90 days more.
   *
   * @throws FlagsError `schedule_not_found`
   * @example
   * const { state, changeSet } = await flags.getSchedule({ schedule: id });
   */
  getSchedule(ref: ScheduleRef): Promise<Schedule>;

  /**
   * Lists schedules by id, which is the order of their creation unless callers chose the ids.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items } = await flags.listSchedules({ state: 'pending', project: 'default', flag: 'checkout' });
   */
  listSchedules(query?: ScheduleQuery, page?: PageQuery): Promise<ListPage<ListedSchedule>>;

  /**
   * Cancels a pending schedule. Does nothing to a cancelled one.
   *
   * @throws FlagsError `schedule_not_found`, `schedule_not_pending`, `revision_mismatch`
   * @example
   * await flags.cancelSchedule({ schedule: id }, { reason: 'The campaign was moved' });
   */
  cancelSchedule(ref: ScheduleRef, context?: Omit<ChangeContext, 'id'>): Promise<Schedule>;

  /**
   * Carries out once what is due, whatever the option `runSchedules` says: for cron jobs and tests. Returns the schedules
   * that it ended, and the rollouts that it moved by one step, ended or paused. What it could not carry out, because the
   * storage failed for example, goes to `onError`.
   *
   * @throws FlagsError `storage_busy`, `storage_unavailable`
   * @example
   * const { items } = await flags.runDue();
   */
  runDue(): Promise<{ readonly items: readonly (ListedSchedule | Moved)[] }>;
}
