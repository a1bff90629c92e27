export type { Fault, FaultInjector, InjectedFault, MethodOf, PortCall } from './testing/injected-faults.js';
export { type FaultyStorage, faultyStorage } from './testing/injected-faults.js';
export { type StorageUnderTest, storageConformance } from './testing/storage/conformance.js';
export { testFlags, vary, withFlags } from './testing/test-flags.js';
export type * from './testing/test-flags.types.js';
