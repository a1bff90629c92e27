export type { Fault, FaultInjector, InjectedFault, MethodOf, PortCall } from './testing/faults.js';
export { type FaultyStorage, type FaultyUsage, faultyStorage, faultyUsage } from './testing/faults.js';
export { type StorageUnderTest, storageConformance } from './testing/storage/conformance.js';
export { testFlags, vary, withFlags } from './testing/test-flags.js';
export type * from './testing/test-flags.types.js';
export { type UsageUnderTest, usageConformance } from './testing/usage/conformance.js';
