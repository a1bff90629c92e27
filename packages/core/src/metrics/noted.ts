import type { MetricsStorage } from './port.js';

/** Metrics that call `note` with every change. */
export function notedMetrics(metrics: MetricsStorage, note: () => void): MetricsStorage {
  return {
    ...metrics,
    record(reports, registrations) {
      note();
      return metrics.record(reports, registrations);
    },
    register(registration) {
      note();
      return metrics.register(registration);
    },
    forget(flag) {
      note();
      return metrics.forget(flag);
    },
    forgetApplication(name) {
      note();
      return metrics.forgetApplication(name);
    },
    prune(retention) {
      note();
      return metrics.prune(retention);
    },
  };
}
