import { isSamePerson } from '../approvals/people.js';
import { FlagsError } from '../errors.js';
import type { ScheduleEnd, ScheduleEvent, ScheduleState } from './schedule.js';

/** A repeated id of the same author returns the schedule as it is. Throws `id_taken` for another one. */
export function assertRepeated(
  existing: ScheduleState,
  { author, hash }: Pick<ScheduleState, 'author' | 'hash'>,
): void {
  if (existing.hash === hash && isSamePerson(existing.author, author)) return;
  const message = `The id ${existing.id} belongs to a schedule of another author, or with other changes, times or options. Choose a new id.`;
  throw new FlagsError('id_taken', message);
}

export function createSchedule(schedule: ScheduleState): ScheduleEvent[] {
  const { id, at } = schedule;
  return [{ type: 'schedule-created', data: { id, state: 'pending', at, ...spannedBy(schedule) }, before: null }];
}

/** The project of an event has no room for several. */
function spannedBy({ projects }: ScheduleState): Partial<Pick<ScheduleState, 'projects'>> {
  return projects.length > 1 ? { projects } : {};
}

/** Throws `schedule_not_pending`. */
export function endSchedule(schedule: ScheduleState, end: ScheduleEnd): ScheduleEvent[] {
  const { id, state } = schedule;
  if (state !== 'pending') throw notPending(schedule);
  return [{ type: 'schedule-ended', data: { id, ...end, ...spannedBy(schedule) }, before: { id, state } }];
}

/** Repeated, it changes nothing. Throws `schedule_not_pending` for a schedule that has ended otherwise. */
export function cancelSchedule(schedule: ScheduleState, endedAt: string): ScheduleEvent[] {
  return schedule.state === 'cancelled' ? [] : endSchedule(schedule, { state: 'cancelled', endedAt });
}

function notPending({ id, state }: ScheduleState): FlagsError {
  const advice = state === 'applied' ? 'undo its change set instead' : 'make a new one';
  return new FlagsError('schedule_not_pending', `The schedule ${id} is ${state}, so it cannot be changed; ${advice}.`);
}
