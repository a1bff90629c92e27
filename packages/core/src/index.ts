export type { CustomStrategy } from './api/custom-strategy.js';
export type * from './api/definitions.js';
export type * from './api/dependencies.js';
export type * from './api/engine.js';
export type { EvaluatedVariant, Evaluation, FallbackVariant } from './api/evaluated.js';
export type * from './api/evaluation.js';
export type { EvaluationContext } from './api/evaluation-context.js';
export type { EvaluationProblem, EvaluationProblemCode } from './api/evaluation-problem.js';
export type * from './api/events.js';
export { EVENT_TYPES } from './api/events.js';
export type * from './api/explanation.js';
export type * from './api/flags.js';
export type * from './api/json-patch.js';
export type * from './api/members.js';
export type * from './api/metrics.js';
export type * from './api/options.js';
export type * from './api/pages.js';
export type * from './api/projects.js';
export type * from './api/refs.js';
export type * from './api/segments.js';
export type * from './api/strategies.js';
export { CONSTRAINT_OPERATORS } from './api/strategies.js';
export type * from './api/tokens.js';
export { TOKEN_KINDS } from './api/tokens.js';
export type * from './api/variants.js';
export { PAYLOAD_TYPES } from './api/variants.js';
export type { Awaitable } from './awaitable.js';
export { createFlags } from './create-flags.js';
export type { ErrorCode, ErrorDetail } from './errors.js';
export { ERROR_CODES, FlagsError, isFlagsError } from './errors.js';
export { memoryMetrics } from './metrics/memory.js';
export type * from './metrics/port.js';
export { describeNonFlags, describeUnknownOption } from './misuse.js';
export type { OpenFeatureContext } from './openfeature/context.js';
export { findFlag } from './openfeature/find-flag.js';
export { type PayloadObject, type PayloadValue, payloadValue } from './openfeature/payload-value.js';
export type { ResolutionReason } from './openfeature/reason.js';
export {
  type FlagResolution,
  type ResolutionMetadata,
  type ResolutionScope,
  type ResolvedVariant,
  resolveAll,
  resolveAllAsync,
  resolveSwitch,
  resolveVariant,
} from './openfeature/resolution.js';
export { memoryStorage } from './storage/memory.js';
export type {
  Commit,
  CommitResult,
  DocumentCheck,
  DocumentDeletion,
  DocumentKey,
  DocumentPut,
  DocumentWrite,
  EventFilter,
  EventPage,
  EventQuery as StoredEventQuery,
  ListedDocument,
  ListQuery,
  NewEvent,
  Storage,
  StoredDocument,
  StoredEvent,
  Vacancy,
} from './storage/port.js';
export {
  type PreparedCommit,
  type PreparedContent,
  type PreparedEvent,
  type PreparedWrite,
  prepareCommit,
} from './storage/prepared-commit.js';
export { timeSlice } from './time-slice.js';
export { type InputSchemas, inputSchemas } from './validation/input-schemas.js';
export type { JsonSchema } from './validation/json-schema.js';
export { LIMITS } from './validation/limits.js';
export { createValidator } from './validation/validator.js';
