import type { JsonSchema } from '@flags/core/integration';
import { ERROR_KINDS } from '../../errors.js';

export const text: JsonSchema = { type: 'string' };
export const boolean: JsonSchema = { type: 'boolean' };
export const count: JsonSchema = { type: 'integer', minimum: 0 };
export const positiveInteger: JsonSchema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

export const timestamp: JsonSchema = {
  type: 'string',
  format: 'date-time',
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
  description: 'ISO 8601, UTC, with milliseconds.',
};

export const optionalTimestamp: JsonSchema = { anyOf: [timestamp, { type: 'null' }] };

export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

export function mapOf(values: JsonSchema): JsonSchema {
  return { type: 'object', additionalProperties: values };
}

export function referTo(component: string): JsonSchema {
  return { $ref: `#/components/schemas/${component}` };
}

/** The version of a payload: an integer in lists, text in replies about variants. */
export const version: JsonSchema = { type: 'integer', const: 1 };

type Properties = Readonly<Record<string, JsonSchema>>;

/** Returns the schema of an object with exactly these members. */
export function strictObject(properties: Properties, optional: Properties = {}): JsonSchema {
  return {
    type: 'object',
    properties: { ...properties, ...optional },
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

const kinds = Object.entries(ERROR_KINDS);

export const errorSchemas = {
  Error: strictObject({
    name: { type: 'string', enum: [...new Set(kinds.map(([, { name }]) => name))].sort() },
    code: {
      type: 'string',
      enum: kinds.map(([code]) => code).sort(),
      description: 'Stable: code against it, not against messages.',
    },
    message: { type: 'string', description: 'One sentence that says what to do.' },
    details: listOf(referTo('ErrorDetail')),
  }),

  ErrorDetail: strictObject(
    { message: text },
    { path: { type: 'string', description: 'A JSON Pointer into what was sent.' } },
  ),

  MemberErrors: {
    ...listOf(strictObject({ msg: text })),
    minItems: 1,
  },
};
