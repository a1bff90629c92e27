export { metricsConformance } from './testing/metrics/conformance.js';
export type { MetricsUnderTest } from './testing/metrics/metrics-under-test.js';
export { type StorageUnderTest, storageConformance } from './testing/storage/conformance.js';
