export { type MetricsUnderTest, metricsConformance } from './testing/metrics/conformance.js';
export { type StorageUnderTest, storageConformance } from './testing/storage/conformance.js';
