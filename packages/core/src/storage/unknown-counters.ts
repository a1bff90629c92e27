import { boundedSum, type DroppedMetrics } from './metrics-port.js';

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
  const recent = next.filter(([second]) => second > newest - HOUR - MINUTE);
  return merged(
    recent.map(([second, yes, no]) => {
      const isOld = second <= newest - 2 * MINUTE;
      return [isOld ? Math.ceil(second / MINUTE) * MINUTE : second, yes, no] as const;
    }),
  );
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
