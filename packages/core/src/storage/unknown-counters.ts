import { boundedSum, type DroppedMetrics } from './metrics-port.js';

/** What was counted of an unknown name in one second. */
export type SecondCount = readonly [second: number, yes: number, no: number];

/** More seconds than this are merged where they are old. */
const EXACT = 120;
const MINUTE = 60;
const HOUR = 60 * MINUTE;

/**
 * Adds a second's counts, in the order of the seconds. Bounded: when there are many, those older than two minutes are
 * merged by the minute, and those older than the last hour are left out.
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

/** Adds up what limits keep from being stored. */
export function createDroppedCount() {
  let [names, reports] = [0, 0];
  const dropped: DroppedMetrics = {
    get names() {
      return names;
    },
    get reports() {
      return reports;
    },
  };
  return {
    dropped,
    add(more: DroppedMetrics): void {
      names += more.names;
      reports += more.reports;
    },
  };
}

/** So many names may be reported in one millisecond. */
const PER_MILLISECOND = 1000;

/** The least rank of a name that was reported at a time. */
export function rankOf(at: number): number {
  return at * PER_MILLISECOND;
}

/** Gives every reported name a greater rank than the one before, so that the most recent of one moment are known too. */
export function createRanks(): (at: number) => number {
  let latest = 0;
  return (at) => {
    latest = Math.max(latest + 1, rankOf(at));
    return latest;
  };
}
