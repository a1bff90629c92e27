// Opening flags

export type * from './base/common.types.js';
export { LIMITS } from './base/limits.js';
export { paginate } from './base/pages.js';
export type * from './base/settings.types.js';
export type * from './changesets/change-set.types.js';
export { createFlags } from './create-flags.js';
// Flags as code
export { definitionsSchema } from './definitions/check-definitions.js';
export { defineFlags, type SchemaOptions } from './definitions/define-flags.js';
export type * from './definitions/definition.types.js';
export type * from './definitions/schema.types.js';
export type { ErrorCode, ErrorDetail } from './errors.js';
export { ERROR_CODES, FlagsError, isFlagsError } from './errors.js';
// Evaluation
export type * from './evaluation/definitions.types.js';
export { CONSTRAINT_OPERATORS, PAYLOAD_TYPES } from './evaluation/definitions.types.js';
export type {
  AudiencePart,
  ConstraintExplanation,
  CustomStrategy,
  DependencyExplanation,
  EvaluatedVariant,
  Evaluation,
  EvaluationContext,
  EvaluationProblem,
  EvaluationProblemCode,
  ExplanationReason,
  FallbackVariant,
  FlagExplanation,
  RolloutExplanation,
  SegmentExplanation,
  StrategyExplanation,
  VariantExplanation,
} from './evaluation/evaluated.types.js';
export type * from './evaluation/evaluation.types.js';
// Administration
export type * from './events/event.types.js';
export { EVENT_TYPES } from './events/event.types.js';
export type * from './flags/dependency.types.js';
export type * from './flags/effect.types.js';
export type * from './flags/flag.types.js';
export type * from './flags/flag-search.types.js';
export type * from './flags/strategy.types.js';
export type * from './flags/variant.types.js';
export type { DataVersionScope, Flags, FlagsLifecycle } from './flags.js';
export type * from './history/history.types.js';
export type * from './options.js';
export type * from './projects/project.types.js';
export type * from './segments/segment.types.js';
export { memoryUsage } from './storage/memory/memory-usage.js';
// Storages
export { memoryStorage } from './storage/memory/storage.js';
export type {
  Commit,
  CommitResult,
  DocumentCheck,
  DocumentDeletion,
  DocumentKey,
  DocumentPut,
  DocumentTouch,
  DocumentWrite,
  EventFilter,
  EventPage,
  ListedDocument,
  ListQuery,
  NewEvent,
  Storage,
  StoredDocument,
  StoredEvent,
  StoredEventQuery,
  Vacancy,
} from './storage/port.js';
export type * from './storage/usage-port.js';
export type * from './tokens/token.types.js';
export { TOKEN_KINDS } from './tokens/token.types.js';
export type * from './typed-flags.types.js';
export type * from './usage/usage.types.js';
