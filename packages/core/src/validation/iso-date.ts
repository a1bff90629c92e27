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
