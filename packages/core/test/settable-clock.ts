export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export interface SettableClock {
  readonly now: () => Date;
  readonly advance: (milliseconds: number) => void;
  /** Returns the current time plus an offset in milliseconds, as ISO 8601. */
  readonly text: (offset?: number) => string;
}

/** A clock that changes only when the test advances it. */
export function settableClock(start = '2026-03-01T12:00:00.000Z'): SettableClock {
  let time = Date.parse(start);
  return {
    now: () => new Date(time),
    advance: (milliseconds) => {
      time += milliseconds;
    },
    text: (offset = 0) => new Date(time + offset).toISOString(),
  };
}
