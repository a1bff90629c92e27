import { LIMITS } from '../base/limits.js';
import { type ObjectSchema, parseIsoDate, toTimestamp, zonedTime } from '../base/primitives.js';
import { createValidator, invalidInput } from '../base/validator.js';
import { SCHEDULE_STATES, type ScheduleSummary } from './schedule.js';
import type { ScheduleOptions, ScheduleQuery } from './schedule.types.js';

type ScheduleTimes = Pick<ScheduleOptions, 'at' | 'notAfter' | 'ifUnchanged'>;

/** The times and the switch of a schedule. The others are validated as those of a change set. */
const scheduleTimes: ObjectSchema<ScheduleTimes> = {
  type: 'object',
  properties: { at: zonedTime, notAfter: zonedTime, ifUnchanged: { type: 'boolean' } },
  required: ['at'],
};

const scheduleQuery: ObjectSchema<ScheduleQuery> = {
  type: 'object',
  properties: {
    state: { type: 'string', enum: SCHEDULE_STATES },
    project: { type: 'string' },
    flag: { type: 'string' },
  },
};

const validateTimes = createValidator<ScheduleTimes>(scheduleTimes);
export const validateScheduleQuery = createValidator<ScheduleQuery>(scheduleQuery);

const HOUR = 3_600_000;

/** Returns the times in their stored form, with defaults. Throws `invalid_input`. */
export function readTimes(options: ScheduleOptions): Pick<ScheduleSummary, 'at' | 'notAfter' | 'ifUnchanged'> {
  const { at, notAfter, ifUnchanged = false } = validateTimes(options);
  const due = parseIsoDate(at) ?? 0;
  const end = notAfter === undefined ? due + HOUR : (parseIsoDate(notAfter) ?? 0);
  if (end < due) throw invalidInput([{ message: 'must not be before at', path: '/notAfter' }]);
  if (end > due + LIMITS.scheduleWindow) {
    throw invalidInput([{ message: 'must be at most 24 hours after at', path: '/notAfter' }]);
  }
  return { at: toTimestamp(at), notAfter: new Date(end).toISOString(), ifUnchanged };
}

/** Throws `invalid_input` for a time that is too far ahead, and for one at which the schedule would have expired. */
export function assertAhead({ at, notAfter }: Pick<ScheduleSummary, 'at' | 'notAfter'>, now: Date): void {
  if (Date.parse(at) > now.getTime() + LIMITS.scheduleAhead) {
    throw invalidInput([{ message: 'must be at most a year ahead', path: '/at' }]);
  }
  if (Date.parse(notAfter) > now.getTime()) return;
  const message = `must be ahead of now: it is ${notAfter}, one hour after at unless you choose another time`;
  throw invalidInput([{ message, path: '/notAfter' }]);
}
