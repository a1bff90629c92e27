import type { JsonSchema } from '../json-schema.js';
import { LIMITS } from '../limits.js';

/** Names of flags, projects, environments and variants: what `encodeURIComponent` leaves alone, not `.` or `..`. */
export const name: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: LIMITS.name,
  pattern: "^(?!\\.{1,2}$)[A-Za-z0-9_.!~*'()-]*$",
  description: "1–100 of the characters A–Z a–z 0–9 - _ . ! ~ * ' ( ), and not . or ..",
};

/** Text that can be stored and shown anywhere: no unpaired surrogates. */
export function text(maxLength: number): JsonSchema {
  return { ...possiblyEmptyText(maxLength), minLength: 1 };
}

export function possiblyEmptyText(maxLength: number): JsonSchema {
  return {
    type: 'string',
    maxLength,
    pattern: '^\\P{Cs}*$',
    description: 'text without unpaired surrogates',
  };
}

export const dateTime: JsonSchema = { type: 'string', maxLength: 64, format: 'date-time' };

/** Of a client: ISO 8601, or epoch milliseconds in the years that ISO 8601 has. */
export const clientTime: JsonSchema = {
  type: ['string', 'number'],
  maxLength: 64,
  format: 'date-time',
  minimum: -62_167_219_200_000,
  maximum: 253_402_300_799_999,
};

export const positiveInteger: JsonSchema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
