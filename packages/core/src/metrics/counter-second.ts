/** The second a report is counted in: the end of its period, rounded up. Counters know no finer time. */
export function counterSecond(stop: number): number {
  return Math.ceil(stop / 1000);
}

/** The last second that is at or before a time: counters after the time have a greater one. */
export function lastSecondUntil(time: number): number {
  return Math.floor(time / 1000);
}
