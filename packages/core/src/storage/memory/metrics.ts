import { setImmediate } from 'node:timers/promises';
import { LIMITS } from '../../base/limits.js';
import { boundsOfMerging, counterSecond, createDroppedCount, lastSecondUntil, minuteOf } from '../counters.js';
import {
  addToSums,
  type Counters,
  composeMetrics,
  type FlagSums,
  type LastSeen,
  sortedSums,
} from '../metrics-composition.js';
import type { ApplicationRegistration, FlagCount, MetricsStorage, TimedUsage, UsageReport } from '../metrics-port.js';
import { runSlices, type SlicedWork, visitInSlices } from '../slices.js';
import { memoryApplications } from './applications.js';
import { memoryUnknownNames } from './unknown-names.js';

/** Stores counters per second, and many old ones per minute: see `LIMITS.countersBySecond`. */
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
    if (size > LIMITS.countersBySecond) mergeOldSeconds();
    // The merge may have filled this second, as the end of a minute.
    const sums: FlagSums = seconds.get(second) ?? new Map();
    seconds.set(second, sums);
    return sums;
  }

  function mergeOldSeconds(): void {
    const { droppedUntil, mergedUntil } = boundsOfMerging(newest);
    for (const [second, sums] of [...seconds]) {
      const minute = minuteOf(second);
      if (second <= droppedUntil) replace(second, undefined);
      if (second <= droppedUntil || second > mergedUntil || second === minute) continue;
      // A copy: a sum that is being computed in slices has visited one of the two already.
      const merged: FlagSums = new Map();
      for (const counted of [seconds.get(minute), sums]) {
        for (const count of counted?.values() ?? []) addToSums(merged, count);
      }
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

function memoryLastSeen(): LastSeen {
  const lastSeen = new Map<string, number>();
  return {
    add(reports) {
      for (const { stop, counts } of reports) {
        for (const { flag } of counts)
          if (stop > (lastSeen.get(flag) ?? Number.NEGATIVE_INFINITY)) lastSeen.set(flag, stop);
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
    dropUnknown: ({ isFlag, unseenSince }, onDropped) =>
      visitInSlices(lastSeen, ([flag, at]) => {
        if (at >= unseenSince || isFlag(flag)) return;
        lastSeen.delete(flag);
        onDropped(flag);
      }),
  };
}

/**
 * Creates metrics in the memory of this process. Other processes cannot see them, and they end with the process.
 *
 * Applications and their instances take at most `LIMITS.applicationsInMemory` bytes, by an estimate; further ones are not
 * stored. Safe to call concurrently. `close` has no effect.
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
  const lastSeen = memoryLastSeen();
  const metrics = composeMetrics({
    counters: memoryCounters(),
    lastSeen,
    applications: memoryApplications(),
    unknownNames: memoryUnknownNames(),
  });
  const { dropped, add } = createDroppedCount();
  // Lets other work of the process run between slices.
  const yielding = async (slice: SlicedWork): Promise<boolean> => slice() && setImmediate(true);

  function record(reports: readonly UsageReport[], registrations: readonly ApplicationRegistration[] = []): void {
    const sightings = [...registrations, ...reports];
    while (metrics.makeRoom(sightings));
    add(metrics.record(reports, registrations));
  }

  return {
    record,
    register: (registration) => record([], [registration]),
    async counts({ after }) {
      const sums: FlagSums = new Map();
      for (const work of metrics.counts(after, sums)) await runSlices(work, yielding);
      return sortedSums(sums);
    },
    applications: metrics.applications,
    application: metrics.application,
    usage: metrics.usage,
    async timedUsage(query) {
      const found: TimedUsage[] = [];
      await runSlices(metrics.timedUsage(query, found), yielding);
      return found;
    },
    lastSeen: lastSeen.of,
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
