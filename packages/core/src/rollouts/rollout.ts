import type { StrategyRef } from '../base/common.types.js';
import type { DomainEvent } from '../base/domain-event.js';
import type { ChangeAuthor } from '../engine/engine.js';
import type { Refusal as ScheduleFailure } from '../errors.js';
import type { ParameterValue } from '../evaluation/definitions.types.js';

export const ROLLOUT_STATES = ['running', 'waiting', 'paused', 'done', 'ended', 'rolled-back'] as const;

/**
 * The state of a rollout. `running`: the next step follows when the hold is over. `waiting`: for a person. `paused`: by a
 * person, or because a step was refused. `done`: all steps were taken. `ended`: by a person, or by another change of the
 * flag. `rolled-back`: the percentage is that from before the start.
 */
export type RolloutStatus = (typeof ROLLOUT_STATES)[number];

/** The states of a rollout that goes on. */
export type ActiveStatus = Extract<RolloutStatus, 'running' | 'waiting' | 'paused'>;

/** One step of a rollout. */
export interface RolloutStep {
  /** The percentage, 0–100. */
  readonly rollout: number;
  /** Milliseconds until the next step, or null: until a person advances the rollout. */
  readonly hold: number | null;
}

/**
 * Why a rollout has ended before its last step. `stopped`: by a person. `guard`: rolled back by the guard. The others name
 * the other change of the flag; `history-lost`: the storage has lost the last step.
 */
export type RolloutEndReason =
  | 'stopped'
  | 'guard'
  | 'strategy-changed'
  | 'environment-switched'
  | 'flag-archived'
  | 'flag-moved'
  | 'flag-deleted'
  | 'history-lost';

/** The end of a rollout before its last step. */
export interface RolloutEnd {
  readonly reason: RolloutEndReason;
  /** The id of the change set that ended it; null if it is unknown, or changed no flag. */
  readonly changeSet: string | null;
}

/** What lists show: everything but what only the next step and a repeated call need. */
export interface RolloutSummary {
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
  readonly guarded: boolean;
  /** What permits its steps in a protected environment: `proposal/ID`, or `bypass`; null: nothing. */
  readonly approval: string | null;
  readonly author: ChangeAuthor;
  readonly createdAt: string;
  readonly reason: string | null;
  /** The revision in which the last step has left the flag. */
  readonly flagRevision: number;
  readonly endedAt: string | null;
  readonly ended: RolloutEnd | null;
  readonly failure: ScheduleFailure | null;
}

/** The stored state of a rollout: one document. */
export interface RolloutState extends RolloutSummary {
  readonly v: 1;
  /** The strategy's parameters from before the start, as far as a rollback writes them. */
  readonly original: OriginalParameter;
  /** Of the reference, the steps and the guardedness, for a repeated id. */
  readonly hash: string;
}

/** `value` is absent if the parameter was. null: the strategy had no parameters. */
export type OriginalParameter = { readonly value?: ParameterValue } | null;

type Named = { readonly id: string; readonly state: RolloutStatus };
type Failure = Partial<Pick<RolloutState, 'failure'>>;
type Stepped = Pick<RolloutState, 'step' | 'since' | 'flagRevision'> & Failure;
type Ended = { readonly endedAt: string } & Partial<Pick<RolloutState, 'ended' | 'flagRevision' | 'since'>>;

/** The events tell the states. Their members become those of the document. */
export type RolloutEvent =
  | DomainEvent<'rollout-started', Named & Pick<RolloutState, 'ref' | 'steps' | 'step'>, null>
  | DomainEvent<'rollout-stepped', Named & Stepped, Named & Pick<RolloutState, 'step'>>
  | DomainEvent<'rollout-updated', Named & Failure, Named>
  | DomainEvent<'rollout-ended', Named & Ended, Named>;

/** The part of the engine that takes the steps of rollouts, for the operations. */
export interface RolloutClock {
  /** A rollout has moved on this node. */
  expect(rollout: RolloutSummary): void;
  /** Ends a rollout if its flag has changed in a way that ends it. Resolves to whether it did. */
  endIfChanged(id: string): Promise<boolean>;
}
