import { type EventType, TOKEN_KINDS } from '@flags/core';
import { WIRE_NAMES, type WireEventType } from '@flags/core/integration/http';
import type { JsonSchema } from '@flags/core/integration/shared';
import { example, nullableText, objectComponent, strictObject, text, timestamp } from '../messages/schema.js';

export const WIRE_EVENT_TYPES: readonly WireEventType[] = Object.values(WIRE_NAMES);

export const eventTypeSchema = example('feature-environment-enabled', { type: 'string', enum: WIRE_EVENT_TYPES });

/** The user of a change. */
export const actorSchema: JsonSchema = {
  ...strictObject({ name: example('Ada') }, { image: text }),
  description: 'Name and picture, if `describeUsers` knows the user.',
};

export const eventSchema = objectComponent(
  'Event',
  {
    id: example(12, { type: 'integer', minimum: 1 }),
    type: eventTypeSchema,
    createdBy: text,
    createdByTokenId: {
      ...nullableText,
      description: 'The id of the API token of the request; null if there was none.',
    },
    createdByTokenType: {
      ...example(null, { type: ['string', 'null'], enum: [...TOKEN_KINDS, null] }),
      description: 'The type of the API token.',
    },
    createdAt: timestamp,
    project: nullableText,
    featureName: nullableText,
    environment: nullableText,
    data: { ...example({ enabled: true }, {}), description: 'The state after the change.' },
    preData: { ...example({ enabled: false }, {}), description: 'The state before it; null if there was none.' },
    changeSet: { ...text, description: 'The id of the change set.' },
    reason: { ...nullableText, description: 'The reason for the change.' },
    origin: {
      ...example(null, nullableText),
      description:
        '`change-request/ID` or `rollout` if one caused the change; `bypass` without the approval that it needs; null for a call of its actor.',
    },
  },
  { user: actorSchema },
);

const EVENT_TYPES_BY_WIRE_NAME = new Map(
  Object.entries(WIRE_NAMES).map(([type, name]) => [name, type as EventType] as const),
);

export function eventTypeFromWire(name: WireEventType): EventType {
  const type = EVENT_TYPES_BY_WIRE_NAME.get(name);
  if (type === undefined) throw new TypeError(`There is no event type ${name}.`);
  return type;
}
