import { type JsonSchema, TOKEN_KINDS } from '@flags/core';
import { WIRE_EVENT_TYPES } from '../../wire/event-types.js';
import { count, listOf, referTo, text, timestamp, version } from './common.js';
import { strictObject } from './strict-object.js';

const nullableText: JsonSchema = { type: ['string', 'null'] };

export const eventSchemas = {
  EventList: strictObject({ version, events: listOf(referTo('Event')), totalEvents: count }),

  Event: strictObject({
    id: { type: 'integer', minimum: 1 },
    type: { type: 'string', enum: WIRE_EVENT_TYPES },
    createdBy: text,
    createdByTokenId: { ...nullableText, description: 'The id of the API token that was used; null: none.' },
    createdByTokenType: { type: ['string', 'null'], enum: [...TOKEN_KINDS, null], description: 'Its type.' },
    createdAt: timestamp,
    project: nullableText,
    featureName: nullableText,
    environment: nullableText,
    data: { description: 'What is so now.' },
    preData: { description: 'What was so before; null where there was nothing.' },
  }),
};
