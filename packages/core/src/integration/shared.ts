/*
 * For several of the packages that build on the engine. Not part of the public API: it may change in any release.
 */

// Checks of options

export { describeNonFlags, describeUnknownOption } from '../base/option-names.js';

// Evaluation

export { STRATEGIES } from '../evaluation/strategies.js';
export type { EnvironmentCount } from '../evaluation/usage-counters.js';

// Evaluation in the terms of OpenFeature

export { type FlagResolution, resolveVariant } from '../openfeature/resolution.js';

// Validation

export type { JsonSchema } from '../base/primitives.js';
export { createValidator } from '../base/validator.js';

// JSON values

export { isObject } from '../base/json.js';

// Listeners, lifetimes and long work

export { nextTurn, pause } from '../base/paced.js';
export { sleep } from '../base/sleep.js';
