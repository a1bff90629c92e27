export type { FlagsProviderOptions, TrackedEvent } from './options.js';
export { createFlagsProvider } from './provider.js';
export { type TypedClient, type TypedEvaluationContext, typedClient } from './typed-client.js';
