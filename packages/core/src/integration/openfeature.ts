/*
 * For `@flags/openfeature`. Not part of the public API: it may change in any release.
 */

// Typed flags

export { payloadReaderOf } from '../typed-flags/payload.js';
export type { TypedProperties } from '../typed-flags.types.js';

// Evaluation

export type { PayloadReading } from '../evaluation/evaluation.types.js';

// Evaluation in the terms of OpenFeature

export { type ResolvedVariant, resolveSwitch } from '../openfeature/resolution.js';
