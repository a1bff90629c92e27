import { isIP } from 'node:net';
import type { PageQuery } from '../common.types.js';
import { LIMITS } from './limits.js';

/** A JSON Schema, of the keywords that draft 7 and 2020-12 have in common. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];
type RequiredKeys<T> = Exclude<keyof T, OptionalKeys<T>>;

/** The schema of an object type: it names all members of the type, and no others, so that the two cannot drift. */
export interface ObjectSchema<T> extends JsonSchema {
  readonly type: 'object';
  readonly properties: { readonly [K in keyof Required<T>]: JsonSchema };
  readonly required?: readonly RequiredKeys<T>[];
  readonly additionalProperties?: false;
}

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

export const pageQuery: ObjectSchema<PageQuery> = {
  type: 'object',
  properties: {
    limit: { type: 'integer', minimum: 1, maximum: LIMITS.itemsPerPage },
    after: { type: 'string' },
  },
};

const ISO_8601 = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(Z|z|[+-]\d{2}:?\d{2})?)?$/;
/** As `Date.prototype.toISOString` writes it, and so most programs. */
const WRITTEN_BY_DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const EARLIEST = Date.parse('0000-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Epoch milliseconds of an ISO 8601 date or date-time, or undefined when it is none. Without an offset it is UTC;
 * fractions finer than a millisecond are cut. In UTC it must lie in the years 0000 to 9999: later and earlier times are
 * written with more digits, and would not sort as text.
 */
export function parseIsoDate(text: string): number | undefined {
  return timeWrittenByDate(text) ?? timeOfAnyForm(text);
}

/** Epoch milliseconds of a time that is ISO 8601 text or epoch milliseconds already. */
export function parseClientTime(time: string | number): number | undefined {
  return typeof time === 'number' ? Math.floor(time) : parseIsoDate(time);
}

/** Undefined also for a few unusual times, such as 24:00: reports hold several dates each, so the usual form is quick. */
function timeWrittenByDate(text: string): number | undefined {
  if (!WRITTEN_BY_DATE.test(text)) return undefined;
  const date = new Date(text);
  return date.getUTCDate() === Number(text.slice(8, 10)) ? date.getTime() : undefined;
}

function timeOfAnyForm(text: string): number | undefined {
  const match = ISO_8601.exec(text);
  if (!match || !isCalendarDay(Number(match[1]), Number(match[2]), Number(match[3]))) return undefined;
  const time = Date.parse(normalize(text, match[4]));
  return time >= EARLIEST && time <= LATEST ? time : undefined;
}

/** The same moment as UTC with milliseconds: the only form that is stored. */
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

/** The finite number that a text is, or undefined: no empty text, no surrounding space, no hexadecimal. */
export function parseNumber(text: string): number | undefined {
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

/** Whether a text is an IPv4 or IPv6 address, or a network of them in CIDR notation. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = address.includes('%') ? 0 : isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  return /^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}

/** Semantic Versioning 2.0, the grammar of https://semver.org/spec/v2.0.0.html. Longer texts are no versions. */
const MAX_LENGTH = 256;
const NUMBER = '(?:0|[1-9][0-9]*)';
const PRERELEASE = '(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)';
const BUILD = '[0-9A-Za-z-]+';
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-${PRERELEASE}(?:\\.${PRERELEASE})*)?(?:\\+${BUILD}(?:\\.${BUILD})*)?$`,
);

export function isSemver(text: string): boolean {
  return text.length <= MAX_LENGTH && SEMVER.test(text);
}
