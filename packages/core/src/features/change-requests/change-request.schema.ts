import { LIMITS } from '../../base/limits.js';
import { type JsonSchema, type ObjectSchema, parseIsoDate, toTimestamp, zonedTime } from '../../base/primitives.js';
import { invalidInput } from '../../base/validator.js';
import {
  type ChangeRequestApproval,
  type ChangeRequestQuery,
  type ChangeRequestTime,
  REQUEST_STATES,
  type RequestInput,
  type RequestTimes,
} from './change-request.js';

const id: JsonSchema = { type: 'string', description: 'A UUID.' };

/** The changes, the id and the reason are validated as those of a change set. */
export const newChangeRequest: ObjectSchema<RequestInput> = {
  type: 'object',
  properties: {
    changes: {},
    reason: {},
    at: zonedTime,
    notAfter: zonedTime,
    ifUnchanged: { type: 'boolean' },
    expiresAt: zonedTime,
    replaces: id,
    id: {},
  },
  required: ['changes'],
};

export const changeRequestApproval: ObjectSchema<ChangeRequestApproval> = {
  type: 'object',
  properties: { effect: { type: 'string', maxLength: LIMITS.label } },
  required: ['effect'],
};

export const changeRequestTime: ObjectSchema<ChangeRequestTime> = {
  type: 'object',
  properties: { at: zonedTime, notAfter: zonedTime },
};

export const changeRequestQuery: ObjectSchema<ChangeRequestQuery> = {
  type: 'object',
  properties: {
    state: { type: 'string', enum: REQUEST_STATES },
    project: { type: 'string' },
    flag: { type: 'string' },
  },
};

const HOUR = 3_600_000;
/** Milliseconds until a request without a time expires: 14 days. */
const LIFETIME = 1_209_600_000;

/** Returns the times of a request in their stored form, with defaults. Throws `invalid_input`. */
export function readTimes(
  { at, notAfter, expiresAt }: Pick<RequestInput, 'at' | 'notAfter' | 'expiresAt'>,
  now: Date,
): RequestTimes {
  if (at === undefined) {
    if (notAfter !== undefined) throw invalid('/notAfter', 'needs a time, at, as well');
    const end = expiresAt === undefined ? now.getTime() + LIFETIME : (parseIsoDate(expiresAt) ?? 0);
    return { at: null, notAfter: null, expiresAt: new Date(end).toISOString() };
  }
  if (expiresAt !== undefined) {
    throw invalid('/expiresAt', 'is for requests without a time; a request with one ends at notAfter');
  }
  const due = parseIsoDate(at) ?? 0;
  const end = notAfter === undefined ? due + HOUR : (parseIsoDate(notAfter) ?? 0);
  if (end < due) throw invalid('/notAfter', 'must not be before at');
  if (end > due + LIMITS.requestWindow) throw invalid('/notAfter', 'must be at most 24 hours after at');
  return { at: toTimestamp(at), notAfter: new Date(end).toISOString(), expiresAt: null };
}

/** Throws `invalid_input` for a time that is too far ahead, and for an end that has passed. */
export function assertAhead({ at, notAfter, expiresAt }: RequestTimes, now: Date): void {
  const isBeyond = (time: string | null, limit: number) => time !== null && Date.parse(time) > now.getTime() + limit;
  if (isBeyond(at, LIMITS.requestAhead)) throw invalid('/at', 'must be at most a year ahead');
  if (isBeyond(expiresAt, LIMITS.requestLifetime)) throw invalid('/expiresAt', 'must be at most 90 days ahead');
  if (expiresAt !== null && !isBeyond(expiresAt, 0)) throw invalid('/expiresAt', 'must be ahead of now');
  if (notAfter === null || isBeyond(notAfter, 0)) return;
  throw invalid(
    '/notAfter',
    `must be ahead of now: it is ${notAfter}, one hour after at unless you choose another time`,
  );
}

function invalid(path: string, message: string): Error {
  return invalidInput([{ message, path }]);
}
