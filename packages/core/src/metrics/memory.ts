import { setImmediate } from 'node:timers/promises';
import { composeMetrics, type FlagSums, sortedSums } from './composition.js';
import { createDroppedCount } from './dropped-count.js';
import { memoryApplications } from './memory-applications.js';
import { memoryCounters } from './memory-counters.js';
import { memorySightings } from './memory-sightings.js';
import { memoryUnknownNames } from './memory-unknown-names.js';
import type { MetricsStorage } from './port.js';
import { runSlices, type SlicedWork } from './slices.js';

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
