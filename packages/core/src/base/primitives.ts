import type { PageQuery } from './common.types.js';
import { LIMITS } from './limits.js';

/** A JSON Schema with keywords that draft 7 and 2020-12 share. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];
type RequiredKeys<T> = Exclude<keyof T, OptionalKeys<T>>;

/** The schema of an object type. It must name exactly the members of the type, so that both stay consistent. */
export interface ObjectSchema<T> extends JsonSchema {
  readonly type: 'object';
  readonly properties: { readonly [K in keyof Required<T>]: JsonSchema };
  readonly required?: readonly RequiredKeys<T>[];
  readonly additionalProperties?: false;
}

/** Names of flags, projects, environments and variants: unchanged by `encodeURIComponent`, and not `.` or `..`. */
export const name: JsonSchema = {
  type: 'string',
  minLength: 1,
  maxLength: LIMITS.name,
  pattern: "^(?!\\.{1,2}$)[A-Za-z0-9_.!~*'()-]*$",
  description: "1–100 of the characters A–Z a–z 0–9 - _ . ! ~ * ' ( ), and not . or ..",
};

/** Ids of projects and names of environments: `*` means all of them in the scope of a token. */
export const nameBesideAll: JsonSchema = {
  ...name,
  pattern: "^(?!(?:\\.{1,2}|\\*)$)[A-Za-z0-9_.!~*'()-]*$",
  description: "1–100 of the characters A–Z a–z 0–9 - _ . ! ~ * ' ( ), and not . or .. or *",
};

/** Whether a name is a directory in a path: clients resolve it before they send the request, also percent-encoded. */
export function isDotSegment(name: string): boolean {
  return name === '.' || name === '..';
}

/** Text that is a part of paths. */
export function textInPaths(maxLength: number): JsonSchema {
  return {
    ...text(maxLength),
    pattern: '^(?!\\.{1,2}$)\\P{Cs}*$',
    description: 'text without unpaired surrogates, and not . or ..',
  };
}

/** Text that every storage accepts: no unpaired surrogates. */
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

export const zonedTime: JsonSchema = {
  ...dateTime,
  pattern: '^[^Tt ]+[Tt ][^Tt ]+(?:[Zz]|[+-]\\d{2}:?\\d{2})$',
  description: 'an ISO 8601 time with Z or an offset, such as 2030-05-01T09:00:00+02:00',
};

/** A date, or a time with an offset: another time would mean another moment in each time zone. */
export const momentInTime: JsonSchema = {
  ...dateTime,
  pattern: '^(?!.*\\d[Tt ]\\d)|(?:[Zz]|[+-]\\d{2}:?\\d{2})$',
  description: 'an ISO 8601 date, or a time with Z or an offset, such as 2030-05-01T09:00:00+02:00',
};

/** A time in client reports: ISO 8601, or epoch milliseconds in the years of ISO 8601. */
export const clientTime: JsonSchema = {
  type: ['string', 'number'],
  maxLength: 64,
  format: 'date-time',
  minimum: -62_167_219_200_000,
  maximum: 253_402_300_799_999,
};

export const positiveInteger: JsonSchema = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER };

export const pageQuery: ObjectSchema<PageQuery> = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: LIMITS.itemsPerPage },
    after: { type: 'string' },
  },
};

const ISO_8601 = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|z|[+-]\d{2}:?\d{2})?)?$/;
const EARLIEST = Date.parse('0000-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Parses an ISO 8601 date or date-time to epoch milliseconds; returns undefined for other text. Without an offset the
 * time is UTC. Truncates fractions below a millisecond. In UTC, the year must be 0000 to 9999: other years have more
 * digits and would not sort as text.
 */
export function parseIsoDate(text: string): number | undefined {
  const match = ISO_8601.exec(text);
  if (!match || !isCalendarDay(Number(match[1]), Number(match[2]), Number(match[3]))) return undefined;
  const time = Date.parse(normalize(text, match[4]));
  return time >= EARLIEST && time <= LATEST ? time : undefined;
}

const OFFSET = /(?:Z|[+-]\d{2}:?\d{2})$/i;

/** Whether an ISO 8601 text has a time of day without an offset, which programs read in their own time zones. */
export function isWithoutOffset(text: string): boolean {
  return /[T ]/i.test(text) && !OFFSET.test(text);
}

/** Text in another form than ISO 8601 that names its time zone, such as that of `Date.prototype.toString`. */
const NAMED_ZONE = /\b(?:Z|UTC?|GMT|[ECMP][SD]T)\b|[\dT ][+-]\d{2}:?\d{2}\b|\dZ$/i;

/**
 * Parses a time of a context or of a stored constraint to epoch milliseconds; NaN if it is not a time. Without an offset
 * it is UTC, on every machine, also in the forms that only `Date.parse` reads.
 */
export function parseMoment(text: string): number {
  const time = parseIsoDate(text);
  if (time !== undefined) return time;
  if (NAMED_ZONE.test(text)) return Date.parse(text);
  return Date.parse(/\dT\d/i.test(text) ? `${text}Z` : `${text} UTC`);
}

/** Returns the epoch milliseconds of ISO 8601 text or of epoch milliseconds. */
export function parseClientTime(time: string | number): number | undefined {
  return typeof time === 'number' ? Math.floor(time) : parseIsoDate(time);
}

/** Converts ISO 8601 text to UTC with milliseconds, the only stored form. */
export function toTimestamp(text: string): string {
  const time = parseIsoDate(text);
  if (time === undefined) throw new RangeError(`Not an ISO 8601 date: ${text}`);
  return new Date(time).toISOString();
}

function isCalendarDay(year: number, month: number, day: number): boolean {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function normalize(text: string, offset: string | undefined): string {
  const upper = text.toUpperCase().replace(' ', 'T');
  if (!upper.includes('T')) return upper;
  const fraction = upper.replace(/(\.\d{3})\d+/, '$1').replace(/([+-]\d{2})(\d{2})$/, '$1:$2');
  return offset === undefined ? `${fraction}Z` : fraction;
}

/** Parses a finite decimal number. Returns undefined for empty text, surrounding space and hexadecimal numbers. */
export function parseNumber(text: string): number | undefined {
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}
