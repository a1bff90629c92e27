/*
 * For `@flags/follower`. Not part of the public API: it may change in any release.
 */

// Opening flags

export { createErrorReporter, createSettings } from '../options.js';

// API tokens

export { createTicket, readTicket } from '../features/tokens/ticket.js';
export { hashSecret, idOfHash, toToken } from '../features/tokens/token-verification.operations.js';

// Typed flags

export { assertSchemaFits, createPropertyLift } from '../typed-flags/define-flags.js';
export { createPayloadReader } from '../typed-flags/payload.js';

// Evaluation

export { Evaluation, type EvaluationParts } from '../evaluation/evaluation.js';
export type { FollowedEvaluation } from '../evaluation/evaluation.types.js';
export { ProblemReporter } from '../evaluation/problem.js';
export { compileSnapshot, type Snapshot } from '../evaluation/snapshot.js';
export { type FlagUsage, UsageCounters } from '../evaluation/usage-counters.js';

// Usage

export { hourOfPeriod } from '../features/usage/usage-reports.js';

// Storages of usage

export { boundedSum } from '../storage/usage/rules.js';

// Errors

export { emitWarning } from '../base/printable.js';

// Validation

export { parseClientTime } from '../base/primitives.js';
export { createReportValidators } from '../features/usage/report-validators.js';

// JSON values

export { freezeJson } from '../base/json.js';

// Listeners, lifetimes and long work

export { compareCodePoints, createListeners, type Listeners } from '../base/collections.js';
export { createLifetime, type Lifetime } from '../base/lifetime.js';

export {
  type ClientDocument,
  type ReportProblem,
  readClientDocument,
  readClientFlag,
  readClientSegment,
} from '../evaluation/client-document.js';
export { loadedPatterns, loadPatternsFor } from '../evaluation/load-patterns.js';
