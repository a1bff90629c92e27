/** Returns the sum of two counts, at most the largest safe integer, so that no report makes later ones fail. */
export function boundedSum(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/** Returns the second in which a report counts: the end of its period, rounded up. */
export function counterSecond(stop: number): number {
  return Math.ceil(stop / 1000);
}

/** Returns the last second at or before a time. Counters after the time have a greater second. */
export function lastSecondUntil(time: number): number {
  return Math.floor(time / 1000);
}
