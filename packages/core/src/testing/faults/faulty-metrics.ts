import type { MetricsStorage } from '../../metrics/port.js';
import type { FaultInjector } from './fault.js';
import { type AllMethods, faultyPort } from './faulty-port.js';

/** A metrics storage that fails when it is told to. */
export type FaultyMetrics = MetricsStorage & FaultInjector<MetricsStorage>;

const METHODS: AllMethods<MetricsStorage> = {
  record: true,
  register: true,
  counts: true,
  applications: true,
  application: true,
  usage: true,
  lastSeen: true,
  forget: true,
  forgetApplication: true,
  prune: true,
  close: true,
};

/**
 * As {@link faultyStorage}, for metrics.
 *
 * @example
 * const metrics = faultyMetrics(memoryMetrics());
 * const flags = await createFlags({ storage: memoryStorage(), metrics });
 * metrics.inject({ method: 'record' });
 */
export function faultyMetrics(metrics: MetricsStorage): FaultyMetrics {
  return { ...faultyPort(metrics, METHODS), dropped: metrics.dropped };
}
