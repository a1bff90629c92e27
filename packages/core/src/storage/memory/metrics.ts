import { setImmediate } from 'node:timers/promises';
import {
  addToSums,
  type Counters,
  composeMetrics,
  type FlagSums,
  type Sightings,
  sortedSums,
} from '../metrics-composition.js';
import { counterSecond, type FlagCount, lastSecondUntil, type MetricsStorage } from '../metrics-port.js';
import { runSlices, type SlicedWork, visitInSlices } from '../slices.js';
import { createDroppedCount } from '../unknown-counters.js';
import { memoryApplications } from './applications.js';
import { memoryUnknownNames } from './unknown-names.js';

/** Memory keeps so many counts by the second. When it has more, it keeps those older than two minutes by the minute. */
const COUNTS_BY_SECOND = 50_000;
const MINUTE = 60;

/** Windows and expiry have a resolution of one second; that of many old counts is one minute. */
export function memoryCounters(): Counters {
  const seconds = new Map<number, FlagSums>();
  let size = 0;
  let newest = 0;

  function replace(second: number, sums: FlagSums | undefined): void {
    size += (sums?.size ?? 0) - (seconds.get(second)?.size ?? 0);
    if (sums) seconds.set(second, sums);
    else seconds.delete(second);
  }

  function sumsOf(second: number): FlagSums {
    const known = seconds.get(second);
    if (known) return known;
    newest = Math.max(newest, second);
    if (size > COUNTS_BY_SECOND) mergeOldSeconds();
    const sums: FlagSums = new Map();
    seconds.set(second, sums);
    return sums;
  }

  function mergeOldSeconds(): void {
    for (const [second, sums] of [...seconds]) {
      if (second > newest - 2 * MINUTE || second % MINUTE === 0) continue;
      const minute = Math.ceil(second / MINUTE) * MINUTE;
      // A copy: a sum that is being computed in slices has visited one of the two already.
      const merged: FlagSums = new Map(seconds.get(minute));
      for (const count of sums.values()) addToSums(merged, count);
      replace(minute, merged);
      replace(second, undefined);
    }
  }

  return {
    add(reports) {
      for (const { stop, counts } of reports) {
        const sums = sumsOf(counterSecond(stop));
        size -= sums.size;
        for (const count of counts) addToSums(sums, count);
        size += sums.size;
      }
    },
    sumAfter(time, sums) {
      const until = lastSecondUntil(time);
      const later = [...seconds].flatMap(([second, counted]) => (second > until ? [counted] : []));
      return visitInSlices(countsIn(later), (count) => addToSums(sums, count));
    },
    forget(flag) {
      for (const sums of seconds.values()) if (sums.delete(flag)) size -= 1;
    },
    dropUntil(time): SlicedWork {
      const until = lastSecondUntil(time);
      return visitInSlices(seconds.keys(), (second) => {
        if (second <= until) replace(second, undefined);
      });
    },
  };
}

function* countsIn(all: readonly FlagSums[]): Iterable<FlagCount> {
  for (const sums of all) yield* sums.values();
}

function memorySightings(): Sightings {
  const lastSeen = new Map<string, number>();
  return {
    add(reports) {
      for (const { stop, counts } of reports) {
        for (const { flag } of counts) lastSeen.set(flag, Math.max(lastSeen.get(flag) ?? stop, stop));
      }
    },
    of(flags) {
      const found = new Map<string, number>();
      for (const flag of flags) {
        const at = lastSeen.get(flag);
        if (at !== undefined) found.set(flag, at);
      }
      return found;
    },
    forget(flag) {
      lastSeen.delete(flag);
    },
    dropStrangers: ({ isFlag, unseenSince }, onDropped) =>
      visitInSlices(lastSeen, ([flag, at]) => {
        if (at >= unseenSince || isFlag(flag)) return;
        lastSeen.delete(flag);
        onDropped(flag);
      }),
  };
}

/**
 * Metrics in this process's memory: nothing to install, gone when the process ends, invisible to other processes.
 * Applications and their instances are bounded in all by `LIMITS.applicationsInMemory`: nothing new is kept beyond.
 * `close` keeps nothing open and changes nothing.
 *
 * @example
 * const metrics = memoryMetrics();
 * await metrics.record([
 *   {
 *     application: 'shop',
 *     instance: { id: 'shop-1' },
 *     at: Date.now(),
 *     stop: Date.now(),
 *     counts: [{ flag: 'checkout', yes: 3, no: 1 }],
 *   },
 * ]);
 * await metrics.counts({ after: Date.now() - 60_000 }); // [{ flag: 'checkout', yes: 3, no: 1 }]
 */
export function memoryMetrics(): MetricsStorage {
  const metrics = composeMetrics({
    counters: memoryCounters(),
    sightings: memorySightings(),
    applications: memoryApplications(),
    unknownNames: memoryUnknownNames(),
  });
  const { dropped, add } = createDroppedCount();
  // Work of one slice is done at once; before every further one the process does what else there is to do.
  const yielding = async (slice: SlicedWork): Promise<boolean> => slice() && setImmediate(true);

  return {
    record: (reports, registrations) => add(metrics.record(reports, registrations)),
    register: (registration) => add(metrics.register(registration)),
    async counts({ after }) {
      const sums: FlagSums = new Map();
      for (const work of metrics.counts(after, sums)) await runSlices(work, yielding);
      return sortedSums(sums);
    },
    applications: metrics.applications,
    application: metrics.application,
    usage: metrics.usage,
    lastSeen: metrics.lastSeen,
    forget: metrics.forget,
    forgetApplication(name) {
      const isKnown = metrics.has(name);
      metrics.removeSlice(name);
      return isKnown;
    },
    async prune(retention) {
      for (const work of metrics.prune(retention)) await runSlices(work, yielding);
    },
    dropped,
    close() {},
  };
}

/** Rows with a key of two parts, each key once: rows of one key are merged into one. */
export interface MergedRows<First, Row> {
  add(first: First, second: string, row: Row): void;
  /** By the order in which the keys came. */
  forEach(visit: (row: Row, first: First, second: string) => void): void;
}

export function mergedRows<First, Row>(merge: (one: Row, next: Row) => Row): MergedRows<First, Row> {
  const groups = new Map<First, Map<string, Row>>();
  return {
    add(first, second, row) {
      const group = groups.get(first) ?? new Map<string, Row>();
      const before = group.get(second);
      group.set(second, before === undefined ? row : merge(before, row));
      groups.set(first, group);
    },
    forEach(visit) {
      for (const [first, group] of groups) for (const [second, row] of group) visit(row, first, second);
    },
  };
}
