import type { JsonSchema } from '@flags/core';

type Properties = Readonly<Record<string, JsonSchema>>;

/** An object with exactly these members. */
export function strictObject(properties: Properties, optional: Properties = {}): JsonSchema {
  return {
    type: 'object',
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}
