import type { DroppedMetrics, UsageReport } from './metrics-port.js';

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

/** The counts of an unknown name in one second. */
export type SecondCount = readonly [second: number, yes: number, no: number];

/** Maximum number of seconds before the old ones are merged. */
const EXACT = 120;
const MINUTE = 60;
const HOUR = 60 * MINUTE;

/**
 * Adds the counts of one second, and returns all in the order of the seconds.
 *
 * Bounded: beyond {@link EXACT} seconds, it merges those older than two minutes by the minute, and drops those older than an
 * hour.
 */
export function addSecond(counts: readonly SecondCount[], added: SecondCount): readonly SecondCount[] {
  const next = merged([...counts, added]);
  if (next.length <= EXACT) return next;
  const newest = next.at(-1)?.[0] ?? 0;
  const { droppedUntil, mergedUntil } = boundsOfMerging(newest);
  const recent = next.filter(([second]) => second > droppedUntil);
  return merged(
    recent.map(([second, yes, no]) => [second <= mergedUntil ? minuteOf(second) : second, yes, no] as const),
  );
}

/** The last second that no window needs, and the last one that is kept by the minute. */
export function boundsOfMerging(newest: number): { readonly droppedUntil: number; readonly mergedUntil: number } {
  return { droppedUntil: newest - HOUR - MINUTE, mergedUntil: newest - 2 * MINUTE };
}

/** Returns the end of a second's minute. Counts by the minute stand in that second. */
export function minuteOf(second: number): number {
  return Math.ceil(second / MINUTE) * MINUTE;
}

/** Rows that a process writes between two looks at the number of counters. */
const ROWS_BETWEEN_LOOKS = 10_000;

/**
 * Returns a function that runs `merge` whenever enough rows were written since the last run, one run at a time. It ignores
 * faults of `merge`: the reports are stored, and the next run merges the rest.
 */
export function createMerging(merge: () => Promise<void>): (reports: readonly UsageReport[]) => Promise<void> {
  let written = 0;
  let isMerging = false;
  return async (reports) => {
    written += reports.reduce((sum, { counts }) => sum + counts.length, 0);
    if (written < ROWS_BETWEEN_LOOKS || isMerging) return;
    written = 0;
    isMerging = true;
    await merge().catch(() => undefined);
    isMerging = false;
  };
}

function merged(counts: readonly SecondCount[]): readonly SecondCount[] {
  const sums = new Map<number, SecondCount>();
  for (const [second, yes, no] of counts) {
    const [, otherYes, otherNo] = sums.get(second) ?? [second, 0, 0];
    sums.set(second, [second, boundedSum(yes, otherYes), boundedSum(no, otherNo)]);
  }
  return [...sums.values()].sort(([one], [other]) => one - other);
}

/** Sums up what limits kept from being stored. */
export function createDroppedCount() {
  let [names, reports, usage] = [0, 0, 0];
  const dropped: DroppedMetrics = {
    get names() {
      return names;
    },
    get reports() {
      return reports;
    },
    get usage() {
      return usage;
    },
  };
  return {
    dropped,
    add(more: DroppedMetrics): void {
      names += more.names;
      reports += more.reports;
      usage += more.usage ?? 0;
    },
  };
}

/** Number of ranks per millisecond, so that names of one moment have an order. */
const PER_MILLISECOND = 1000;

/** Returns the lowest rank of a time. */
export function rankOf(at: number): number {
  return at * PER_MILLISECOND;
}

/** Returns a function that returns a greater rank with each call. */
export function createRanks(): (at: number) => number {
  let latest = 0;
  return (at) => {
    latest = Math.max(latest + 1, rankOf(at));
    return latest;
  };
}
