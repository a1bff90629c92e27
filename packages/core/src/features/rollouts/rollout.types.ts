import type { Awaitable, StrategyRef } from '../../base/common.types.js';
import type { RolloutStatus, StrategyRollout } from '../flags/strategy-rollout.types.js';

/** A strategy whose percentage changes in steps. */
export interface Rollout extends StrategyRollout {
  readonly ref: StrategyRef;
  /** The percentage now. */
  readonly percentage: number;
  /** When the next step is due, or the rollout is done: ISO 8601. null: the hold has no end. */
  readonly nextAt: string | null;
}

/** A strategy whose rollout has ended. */
export interface EndedRollout {
  readonly ref: StrategyRef;
  /** The percentage now. */
  readonly percentage: number;
  readonly nextAt: null;
  readonly state?: undefined;
}

/** The steps of a rollout. */
export interface NewRollout {
  /** 1–20. The last `hold` is how long the guard still watches; default: 0. */
  readonly steps: readonly NewRolloutStep[];
  /** Take steps only where `due.guard` is an option. Default: false. */
  readonly guarded?: boolean | undefined;
}

/** A step: a percentage, and how long it stays. */
export interface NewRolloutStep {
  /** A whole number, 0–100. It may be lower than the one before. */
  readonly percentage: number;
  /** Milliseconds until the next step, or null: until `advance`. Only the last step may lack it. */
  readonly hold?: number | null | undefined;
}

/** Selects rollouts. All given members must match. */
export interface RolloutQuery {
  readonly state?: RolloutStatus | undefined;
  /** The present project of the flag. */
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

/** The rollout that a guard is asked about. */
export interface GuardedRollout {
  readonly ref: StrategyRef;
  /** The percentage now. */
  readonly percentage: number;
  /** The index of the step that is taken. */
  readonly step: number;
  /** When it was taken: ISO 8601, UTC, milliseconds. */
  readonly since: string;
  /** Aborts after ten seconds, when the answer counts as `hold`, and when the flags are closed. */
  readonly signal: AbortSignal;
}

/** `go`: the next step may follow. `hold`: it waits. `rollback`: the percentage becomes that from before the start. */
export type GuardAnswer = 'go' | 'hold' | 'rollback';

/** Asked before each step of a rollout, and every minute of a hold. */
export type RolloutGuard = (rollout: GuardedRollout) => Awaitable<GuardAnswer>;
