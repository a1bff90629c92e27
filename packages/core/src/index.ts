// Opening flags

export type { FlagsSettings } from './base/settings.types.js';
export type { Flags } from './flags.js';
export { openFlags } from './open-flags.js';
export type { FlagsOptions } from './options.js';

// References, pages and limits

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

// Flags

export type { Dependency, DependencyInput } from './features/flags/dependency.types.js';
export type { FlagEffect } from './features/flags/effect.decide.js';
export type { Flag, FlagChanges, FlagDetail, FlagSummary, NewFlag } from './features/flags/flag.types.js';
export type { FlagOverview, FlagPage, FlagQuery } from './features/flags/flag-search.types.js';
export type {
  FlagEnvironment,
  SegmentUse,
  Strategy,
  StrategyInput,
  StrategyVariant,
} from './features/flags/strategy.types.js';
export type { Variant, VariantInput } from './features/flags/variant.types.js';

// Projects

export type {
  Member,
  NewProject,
  Project,
  ProjectChanges,
  ProjectOverview,
  ProjectSummary,
} from './features/projects/project.types.js';

// Segments

export type { NewSegment, Segment, SegmentChanges } from './features/segments/segment.types.js';

// API tokens

export {
  type CreatedToken,
  type ListedToken,
  type NewToken,
  TOKEN_KINDS,
  type Token,
  type TokenKind,
} from './features/tokens/token.types.js';

// Change sets and history

export type { ChangePlan, ChangePreview } from './features/environments/plan.types.js';
export type { FlagsView, HistoryEntry, HistoryRef } from './features/history/history.types.js';
export type {
  ApplyOptions,
  AuthorizeChanges,
  ChangeSet,
  PlannedDocument,
  PlannedEvent,
  PlannedSet,
} from './kernel/changes/change-set.types.js';

// Change requests

export type {
  ChangeRequest,
  ListedChangeRequest,
  RequestedChange,
} from './features/change-requests/change-request.types.js';
export type { Change } from './features/change-requests/vocabulary.js';

// Rollouts

export type { EndedRollout, Rollout } from './features/rollouts/rollout.types.js';

// Events

export { EVENT_TYPES } from './features.js';
export type { EventLog, EventQuery, FeedPage, FlagsEvent } from './kernel/log/event.types.js';
export type { EventType } from './words/event-names.js';

// Consumers

export type { Consumer, ConsumerHandler } from './features/consumers/consumer.types.js';

// Flags as code

export { definitionsSchema } from './features/definitions/check-definitions.js';
export type { DefinedFlag, Definitions, ImportOptions, ImportResult } from './features/definitions/definition.types.js';

// Typed flags

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

// Usage

export type { Application, ApplicationDetail, UsageFilter, UsagePeriod } from './features/usage/usage.types.js';

// Storages

export { memoryStorage } from './storage/memory/storage.js';
export type { FlagsStorage } from './storage.js';

// Errors

export { ERROR_CODES, type ErrorCode, type ErrorDetail, FlagsError, isFlagsError } from './base/errors.js';

// Declarations of an application can only name types of modules that this one loads.

export type {} from './types.js';
