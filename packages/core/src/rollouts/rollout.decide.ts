import { invalidInput } from '../base/validator.js';
import type { Refusal as ScheduleFailure } from '../errors.js';
import { FlagsError } from '../errors.js';
import { isSamePerson } from '../tokens/people.js';
import type {
  ActiveStatus,
  OriginalParameter,
  RolloutEnd,
  RolloutEvent,
  RolloutState,
  RolloutStep,
} from './rollout.js';

/** What a set does to a rollout, and to the percentage of its strategy. */
export interface Move {
  /** The percentage to write, or the parameter from before the start. Absent: the flag stays as it is. */
  readonly parameter?: { readonly percentage: number } | { readonly original: OriginalParameter };
  /** The step is taken before its hold is over, which the approval of the rollout does not cover. */
  readonly isEarly?: boolean;
  readonly events: (set: MovingSet) => readonly RolloutEvent[];
}

/** The set that moves a rollout. */
export interface MovingSet {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** The revision in which the set leaves the flag. */
  readonly flagRevision: number;
}

/** A repeated id of the same author returns the rollout as it is. Throws `id_taken` for another one. */
export function assertRepeated(
  existing: Pick<RolloutState, 'id' | 'author' | 'hash'>,
  { author, hash }: Pick<RolloutState, 'author' | 'hash'>,
): void {
  if (existing.hash === hash && isSamePerson(existing.author, author)) return;
  const message = `The id ${existing.id} belongs to a rollout of another author, or with other steps. Choose a new id.`;
  throw new FlagsError('id_taken', message);
}

export function startedEvents({ id, state, ref, steps, step }: RolloutState): readonly RolloutEvent[] {
  return [{ type: 'rollout-started', data: { id, state, ref, steps, step }, before: null }];
}

/** Returns the state of a rollout that is not paused. */
export function stateIn({ hold }: RolloutStep): Exclude<ActiveStatus, 'paused'> {
  return hold === null ? 'waiting' : 'running';
}

/** Returns when the hold is over, in milliseconds since 1970; undefined if it has no end, and after the rollout. */
export function nextAtOf({
  steps,
  step,
  since,
  endedAt,
}: Pick<RolloutState, 'steps' | 'step' | 'since' | 'endedAt'>): number | undefined {
  const hold = steps[step]?.hold ?? null;
  return hold === null || endedAt !== null ? undefined : Date.parse(since) + hold;
}

/** Takes the next step: the last one is followed by the end. A paused rollout stays paused. */
function takeNext(rollout: RolloutState): Move {
  const { id, state, steps, step } = rollout;
  const next = steps[step + 1];
  if (!next) {
    const done = (at: string) => ({ id, state: 'done' as const, endedAt: at, failure: null });
    return { events: ({ at }) => [{ type: 'rollout-ended', data: done(at), before: { id, state } }] };
  }
  const reached = { id, state: state === 'paused' ? state : stateIn(next), step: step + 1, failure: null };
  return {
    parameter: { percentage: next.rollout },
    events: ({ at, flagRevision }) => [
      { type: 'rollout-stepped', data: { ...reached, since: at, flagRevision }, before: { id, state, step } },
    ],
  };
}

/** Takes a step that is due. Undefined if another process has taken it, and while no step is to follow. */
export function takeDue(rollout: RolloutState, step: number, now: number): Move | undefined {
  if (rollout.state !== 'running' || rollout.step !== step) return undefined;
  const nextAt = nextAtOf(rollout) ?? Number.POSITIVE_INFINITY;
  return nextAt <= now ? takeNext(rollout) : undefined;
}

/** Takes the next step by a person. Undefined if the step is reached already. */
export function advance(rollout: RolloutState, to: number | undefined, now: Date): Move | undefined {
  if (to !== undefined && to <= rollout.step) return undefined;
  if (to === rollout.steps.length && rollout.state === 'done') return undefined;
  assertActive(rollout);
  const next = rollout.step + 1;
  if (to === undefined || to === next) {
    return { ...takeNext(rollout), isEarly: (nextAtOf(rollout) ?? 0) > now.getTime() };
  }
  throw invalidInput([
    { message: `must be the next step, ${next}: a rollout takes one step at a time`, path: '/step' },
  ]);
}

/** @param failure the refusal of a step; undefined for a person */
export function pause(rollout: RolloutState, failure?: ScheduleFailure): Move | undefined {
  assertActive(rollout);
  const { id, state } = rollout;
  if (state === 'paused') return undefined;
  const data = { id, state: 'paused', failure: failure ?? null } as const;
  return { events: () => [{ type: 'rollout-updated', data, before: { id, state } }] };
}

export function resume(rollout: RolloutState): Move | undefined {
  assertActive(rollout);
  const { id, state, steps, step } = rollout;
  const current = steps[step];
  if (state !== 'paused' || !current) return undefined;
  const data = { id, state: stateIn(current), failure: null };
  return { events: () => [{ type: 'rollout-updated', data, before: { id, state } }] };
}

/** Ends a rollout by a person. Repeated, it changes nothing. */
export function stop(rollout: RolloutState, rollback: boolean): Move | undefined {
  const isStopped = rollout.ended?.reason === 'stopped' && (rollout.state === 'rolled-back') === rollback;
  if (isStopped) return undefined;
  assertActive(rollout);
  return rollback ? rollBack(rollout, 'stopped') : end(rollout, { reason: 'stopped', changeSet: null });
}

export function end(rollout: RolloutState, ended: RolloutEnd): Move {
  const { id, state } = rollout;
  return {
    events: ({ at }) => [
      { type: 'rollout-ended', data: { id, state: 'ended', endedAt: at, ended }, before: { id, state } },
    ],
  };
}

/** Writes the parameter from before the start. */
export function rollBack({ id, state, original }: RolloutState, reason: 'stopped' | 'guard'): Move {
  return {
    parameter: { original },
    events({ id: changeSet, at: endedAt, flagRevision }) {
      const data = { id, state: 'rolled-back', endedAt, ended: { reason, changeSet }, flagRevision } as const;
      return [{ type: 'rollout-ended', data, before: { id, state } }];
    },
  };
}

export function isActive({ endedAt }: Pick<RolloutState, 'endedAt'>): boolean {
  return endedAt === null;
}

/** Throws `rollout_not_active`. */
function assertActive(rollout: RolloutState): void {
  if (isActive(rollout)) return;
  const { id, state } = rollout;
  throw new FlagsError(
    'rollout_not_active',
    `The rollout ${id} is ${state}, so it cannot be changed; start another one.`,
  );
}
