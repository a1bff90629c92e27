// Opening flags

export type {
  ChangeContext,
  EnvironmentRef,
  FlagRef,
  ListPage,
  PageQuery,
  ProjectRef,
  StrategyRef,
} from './base/common.types.js';
export { LIMITS } from './base/limits.js';
export { paginate } from './base/pages.js';
export type { FlagsSettings } from './base/settings.types.js';
// Change sets
export type {
  ApplyOptions,
  AuthorizeChanges,
  ChangeSet,
  PlannedDocument,
  PlannedEvent,
  PlannedSet,
} from './changesets/change-set.types.js';
// Consumers
export type { Consumer, ConsumerHandler } from './consumers/consumer.types.js';
// Flags as code
export { definitionsSchema } from './definitions/check-definitions.js';
export type { DefinedFlag, Definitions, ImportOptions, ImportResult } from './definitions/definition.types.js';
// Errors
export { ERROR_CODES, type ErrorCode, type ErrorDetail, FlagsError, isFlagsError } from './errors.js';
// Evaluation
export {
  type Constraint,
  PAYLOAD_TYPES,
  type Payload,
  type StrategyParameters,
} from './evaluation/definitions.types.js';
export type {
  ConfigurationChange,
  ContextualFlags,
  CustomStrategy,
  EvaluatedFlag,
  EvaluatedVariant,
  EvaluationContext,
  EvaluationOptions,
  EvaluationStatus,
  Evaluator,
  FlagExplanation,
  Impression,
  StrategyExplanation,
} from './evaluation/evaluation.types.js';
export { CONSTRAINT_OPERATORS, type ConstraintOperator } from './evaluation/operators.js';
export type { EvaluationProblem } from './evaluation/problem.js';
// Change requests
export type {
  ChangeRequest,
  ListedChangeRequest,
  RequestedChange,
} from './features/change-requests/change-request.types.js';
export type { Change } from './features/change-requests/vocabulary.js';
export type { ChangePlan, ChangePreview } from './features/environments/plan.types.js';
// Rollouts
export type { EndedRollout, Rollout } from './features/rollouts/rollout.types.js';
// Events
export { EVENT_TYPES } from './features.js';
// Administration
export type { Dependency, DependencyInput } from './flags/dependency.types.js';
export type { FlagEffect } from './flags/effect.decide.js';
export type { Flag, FlagChanges, FlagDetail, FlagSummary, NewFlag } from './flags/flag.types.js';
export type { FlagOverview, FlagPage, FlagQuery } from './flags/flag-search.types.js';
export type {
  FlagEnvironment,
  SegmentUse,
  Strategy,
  StrategyInput,
  StrategyVariant,
} from './flags/strategy.types.js';
export type { Variant, VariantInput } from './flags/variant.types.js';
export type { Flags } from './flags.js';
// Declarations of an application can only name types of modules that this one loads.
export type {} from './integration.js';
// Events
export type { EventLog, EventQuery, FeedPage, FlagsEvent } from './log/event.types.js';
export type { FlagsView, HistoryEntry, HistoryRef } from './log/history.types.js';
export { openFlags } from './open-flags.js';
export type { FlagsOptions } from './options.js';
export type {
  Member,
  NewProject,
  Project,
  ProjectChanges,
  ProjectOverview,
  ProjectSummary,
} from './projects/project.types.js';
export type { NewSegment, Segment, SegmentChanges } from './segments/segment.types.js';
// Storages
export { memoryStorage } from './storage/memory/storage.js';
export type { FlagsStorage } from './storage.js';
export {
  type CreatedToken,
  type ListedToken,
  type NewToken,
  TOKEN_KINDS,
  type Token,
  type TokenKind,
} from './tokens/token.types.js';
export { defineFlags } from './typed-flags/define-flags.js';
// TypeScript merges a module augmentation into names of `export *` only, not into names that are exported one by one.
export type * from './typed-flags/registered-flags.types.js';
export type {
  EnvironmentName,
  FlagDrift,
  FlagName,
  FlagNameWith,
  FlagPayload,
  FlagsSchema,
  VariantName,
} from './typed-flags/schema.types.js';
export type {
  TypedContext,
  TypedContextualFlags,
  TypedEvaluator,
  TypedFlags,
  TypedVariant,
} from './typed-flags.types.js';
export type {} from './types.js';
export type { Application, ApplicationDetail, UsageFilter, UsagePeriod } from './usage/usage.types.js';
export type { EventType } from './words/event-names.js';
