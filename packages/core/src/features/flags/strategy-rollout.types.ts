import type { Refusal } from '../../base/errors.js';
import type { ParameterValue } from '../../evaluation/definitions.types.js';
import type { ChangeAuthor } from '../../kernel/engine.js';

/** `running`: the next step follows when the hold is over. `waiting`: for a person. `paused`: by a person, or by a refusal. */
export const ROLLOUT_STATES = ['running', 'waiting', 'paused'] as const;

/** The state of a rollout. */
export type RolloutStatus = (typeof ROLLOUT_STATES)[number];

/** One step of a rollout. */
export interface RolloutStep {
  /** A whole number, 0–100. */
  readonly percentage: number;
  /** Milliseconds until the next step, or null: until a person advances the rollout. */
  readonly hold: number | null;
}

/**
 * Why a rollout has ended. `done`: its last hold is over. `stopped` and `rolled-back`: by a person. `guard`: rolled back
 * by the guard. `changed`: another change of the strategy, of its switch, or of the flag's place or archive.
 */
export type RolloutEndReason = 'done' | 'stopped' | 'rolled-back' | 'guard' | 'changed';

/** The parameter from before the start: `value` is absent if the parameter was. null: the strategy had no parameters. */
export type StartedFrom = { readonly value?: ParameterValue } | null;

/** The rollout of a strategy: its percentage changes in steps. */
export interface StrategyRollout {
  readonly steps: readonly RolloutStep[];
  /** The index of the step that is taken. */
  readonly step: number;
  /** When it was taken: ISO 8601, UTC, milliseconds. */
  readonly since: string;
  readonly state: RolloutStatus;
  /** Only a process with a guard takes its steps. */
  readonly guarded: boolean;
  /** The change sets of its steps have the same actor. */
  readonly author: ChangeAuthor;
  /** The value that a rollback restores. */
  readonly startedFrom: StartedFrom;
  /** Why its next step was refused; null unless that paused it. */
  readonly failure: Refusal | null;
}
