export type { Fault, FaultInjector, InjectedFault, MethodOf, PortCall } from './testing/faults/fault.js';
export { type FaultyMetrics, faultyMetrics } from './testing/faults/faulty-metrics.js';
export { type FaultyStorage, faultyStorage } from './testing/faults/faulty-storage.js';
export { type MetricsUnderTest, metricsConformance } from './testing/metrics/conformance.js';
export { type StorageUnderTest, storageConformance } from './testing/storage/conformance.js';
