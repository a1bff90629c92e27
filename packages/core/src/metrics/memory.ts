import { composeMetrics } from './composition.js';
import { memoryApplications } from './memory-applications.js';
import { memoryCounters } from './memory-counters.js';
import { memorySightings } from './memory-sightings.js';
import type { MetricsStorage } from './port.js';

/**
 * Metrics in this process's memory: nothing to install, gone when the process ends, invisible to other processes.
 * Every call is done when it returns; `close` keeps nothing open and changes nothing.
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
  return composeMetrics({
    counters: memoryCounters(),
    sightings: memorySightings(),
    applications: memoryApplications(),
  });
}
