export { type InstrumentedFlags, type InstrumentFlagsOptions, instrumentFlags } from './instrument-flags.js';
export { type InstrumentStorageOptions, instrumentStorage } from './instrument-storage.js';
