/*
 * For `@flags/opentelemetry`. Not part of the public API: it may change in any release.
 */

// Checks of options

export { isStorage } from '../base/option-names.js';

// Evaluation

export { onUsageFlush, type UsageFlush } from '../evaluation/usage-counters.js';
