import { usageError } from './output.js';

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Returns the milliseconds of a duration such as `12h`; undefined for another text. */
export function durationOf(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  return amount === undefined ? undefined : Number(amount) * (UNITS[unit] ?? 0);
}

/** A date alone, or a time with Z or an offset: other times mean another moment on another machine. */
const MOMENT = /^\d{4}-\d{2}-\d{2}(?:[T ].*(?:Z|[+-]\d{2}:?\d{2}))?$/i;

/** Returns the moment that an option names, in milliseconds: a time, the midnight of a date in UTC, or how long ago. */
export function parseTime(option: string, text: string): number {
  const ago = durationOf(text);
  if (ago !== undefined) return Date.now() - ago;
  const time = MOMENT.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw usageError(
    `${option} is a date (2026-05-01), a time with Z or an offset (2026-05-01T09:00:00+02:00), or how long ago (12h, 7d), not ${text}.`,
  );
}
