import { LIMITS } from '../validation/limits.js';
import { dateTime, type ObjectSchema } from '../validation/primitives.js';
import { EVENT_TYPES, type EventQuery } from './event.types.js';

export const eventQuery: ObjectSchema<EventQuery> = {
  type: 'object',
  properties: {
    project: { type: 'string' },
    flag: { type: 'string' },
    type: { type: 'string', enum: EVENT_TYPES },
    from: dateTime,
    to: dateTime,
    after: { type: 'string', maxLength: LIMITS.label },
    limit: { type: 'integer', minimum: 0, maximum: LIMITS.eventsPerPage },
    offset: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
};
