import type { Awaitable, ChangeContext, ListPage, PageQuery, StrategyRef } from '../base/common.types.js';
import type { ChangeAuthor } from '../engine/engine.js';
import type { Refusal as ScheduleFailure } from '../errors.js';
import type { RolloutEnd, RolloutStatus, RolloutStep } from './rollout.js';

/** A strategy whose percentage changes in steps. */
export interface Rollout {
  /** A UUID. */
  readonly id: string;
  readonly state: RolloutStatus;
  readonly ref: StrategyRef;
  readonly steps: readonly RolloutStep[];
  /** The index of the step that is taken. */
  readonly step: number;
  /** The percentage from before the start. */
  readonly startedFrom: number;
  /** When the step was taken: ISO 8601, UTC, milliseconds. */
  readonly since: string;
  /** When the next step is due, or the rollout is done; null if the hold has no end, and after the rollout. */
  readonly nextAt: string | null;
  /** Whether only a process with `rolloutGuard` takes its steps. */
  readonly guarded: boolean;
  /** What permits its steps in a protected environment: `proposal/ID`, or `bypass`; null: nothing. */
  readonly approval: string | null;
  /** The change sets of its steps have the same actor. */
  readonly author: ChangeAuthor;
  readonly createdAt: string;
  readonly reason: string | null;
  /** When it was done, ended or was rolled back; null before. */
  readonly endedAt: string | null;
  /** Why it ended before its last step; null unless it did. */
  readonly ended: RolloutEnd | null;
  /** Why its next step was refused; null unless that paused it. */
  readonly failure: ScheduleFailure | null;
  /** Pass it as `ifRevision`. */
  readonly revision: number;
}

/** Names a rollout by its id. */
export interface RolloutRef {
  readonly rollout: string;
}

/** The steps of a rollout. */
export interface NewRollout {
  /** 1–20. The last `hold` is how long the guard still watches; default: 0. */
  readonly steps: readonly NewRolloutStep[];
  /** Take steps only where `rolloutGuard` is an option. Default: false. */
  readonly guarded?: boolean | undefined;
}

/** A step: a percentage, and how long it stays. */
export interface NewRolloutStep {
  /** The percentage, 0–100. */
  readonly rollout: number;
  /** Milliseconds until the next step, or null: until `advanceRollout`. Only the last step may lack it. */
  readonly hold?: number | null | undefined;
}

/** Selects rollouts. All given members must match. */
export interface RolloutQuery {
  readonly state?: RolloutStatus | undefined;
  /** The flag was in this project when the rollout began, or is there now. */
  readonly project?: string | undefined;
  readonly flag?: string | undefined;
}

/** The step that a call advances to. */
export interface AdvanceOptions {
  /** The index of the step to reach, so that a repeated call advances once. Default: the next step. */
  readonly step?: number | undefined;
}

/** How a rollout is stopped. */
export interface StopOptions {
  /** Whether the percentage becomes that from before the start. Default: false, it stays. */
  readonly rollback?: boolean | undefined;
}

/** The actor, the reason and the expected revision of a change of a rollout. */
export type RolloutContext = Omit<ChangeContext, 'id'>;

/** The rollout that a guard is asked about. */
export interface GuardedRollout {
  readonly ref: StrategyRef;
  /** The percentage now. */
  readonly rollout: number;
  /** The index of the step that is taken. */
  readonly step: number;
  /** When it was taken: ISO 8601, UTC, milliseconds. */
  readonly since: string;
  /** Aborts after ten seconds, when the answer counts as `hold`, and when the flags are closed. */
  readonly signal: AbortSignal;
}

/** `go`: the next step may follow. `hold`: it waits. `rollback`: the percentage becomes that from before the start. */
export type GuardAnswer = 'go' | 'hold' | 'rollback';

/** The option `rolloutGuard`: asked before each step, and every minute of a hold. */
export type RolloutGuard = (rollout: GuardedRollout) => Awaitable<GuardAnswer>;

/** Operations on percentages that change in steps. */
export interface RolloutOperations {
  /**
   * Changes the percentage of a strategy in steps. The first step is taken at once. Each one stays for its `hold`, counted
   * from when it was really taken, so that no step is skipped after an outage. A node with `runSchedules: true` takes the
   * steps, or `runDue` does. Any other change of the strategy, of the switch in its environment, and of the flag's place or
   * archive ends the rollout.
   *
   * With an `id` that was used before by the same author, for the same steps, it returns that rollout as it is now.
   *
   * @throws FlagsError as `updateStrategy`; `rollout_exists`; `environment_disabled` if the flag is off there, or the
   * strategy is disabled; `due_disabled` without the option `due`; `invalid_input` also for a strategy
   * without a percentage, and beyond 1,000 active rollouts; `id_taken`
   * @example
   * const steps = [{ rollout: 5, hold: 3_600_000 }, { rollout: 25, hold: null }, { rollout: 100 }];
   * await flags.startRollout({ ...production, strategy: id }, { steps }, { reason: 'Launch' });
   */
  startRollout(ref: StrategyRef, rollout: NewRollout, context?: ChangeContext): Promise<Rollout>;

  /**
   * Returns a rollout. One that has ended exists for 90 days more.
   *
   * @throws FlagsError `rollout_not_found`
   * @example
   * const { state, step, nextAt } = await flags.getRollout({ rollout: id });
   */
  getRollout(ref: RolloutRef): Promise<Rollout>;

  /**
   * Lists rollouts by id, which is the order of their start unless callers chose the ids.
   *
   * @throws FlagsError `invalid_input`
   * @example
   * const { items } = await flags.listRollouts({ project: 'default', flag: 'checkout' });
   */
  listRollouts(query?: RolloutQuery, page?: PageQuery): Promise<ListPage<Rollout>>;

  /**
   * Pauses a rollout. Its hold runs on, so its next step may follow as soon as it is resumed. Does nothing to a paused one.
   *
   * @throws FlagsError `rollout_not_found`, `rollout_not_active`, `revision_mismatch`
   * @example
   * await flags.pauseRollout({ rollout: id }, { reason: 'The error rate rises' });
   */
  pauseRollout(ref: RolloutRef, context?: RolloutContext): Promise<Rollout>;

  /**
   * Resumes a paused rollout. Does nothing to one that is not paused.
   *
   * @throws FlagsError as `pauseRollout`
   * @example
   * await flags.resumeRollout({ rollout: id });
   */
  resumeRollout(ref: RolloutRef, context?: RolloutContext): Promise<Rollout>;

  /**
   * Takes the next step now, without the guard. A paused rollout stays paused. After the last step it is done.
   *
   * @throws FlagsError as `pauseRollout` and `updateStrategy`; `invalid_input` for a step that is not the next one
   * @example
   * await flags.advanceRollout({ rollout: id }, { step: 2 });
   */
  advanceRollout(ref: RolloutRef, options?: AdvanceOptions, context?: RolloutContext): Promise<Rollout>;

  /**
   * Ends a rollout. The percentage stays, or becomes that from before the start. Does nothing if it was stopped so already.
   *
   * @throws FlagsError as `pauseRollout` and `updateStrategy`
   * @example
   * await flags.stopRollout({ rollout: id }, { rollback: true }, { reason: 'Payments fail' });
   */
  stopRollout(ref: RolloutRef, options?: StopOptions, context?: RolloutContext): Promise<Rollout>;
}
