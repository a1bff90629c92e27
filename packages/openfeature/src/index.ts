export type { FlagsProviderOptions, TrackedEvent } from './options.js';
export { createFlagsProvider } from './provider.js';
