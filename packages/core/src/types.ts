/*
 * Types of inputs, options and results that `@flags/core` does not export itself, because code seldom names them.
 * Declaration files that TypeScript writes for your code refer to them.
 */

export type { AnyFlagRef, ApplicationRef, Awaitable, ChangeSetRef, ConsumerRef, Person } from './base/common.types.js';
export type { Refusal } from './base/errors.js';
export type { PartDifference } from './base/parts.js';
export type { Environment, FlagType, Role } from './base/settings.types.js';
export type {
  ConstraintDefinition,
  DependencyDefinition,
  ParameterValue,
  PayloadType,
  StrategyDefinition,
  VariantDefinition,
  VariantOverride,
} from './evaluation/definitions.types.js';
export type {
  ConstraintExplanation,
  DependencyExplanation,
  EnvironmentChoice,
  EnvironmentConfiguration,
  ExplanationReason,
  FallbackVariant,
  FlagConfiguration,
  PayloadOptions,
  RolloutExplanation,
  SegmentConfiguration,
  SegmentExplanation,
  VariantExplanation,
  VariantOptions,
} from './evaluation/evaluation.types.js';
export type { EvaluationProblemCode } from './evaluation/problem.js';
export type { BuiltInName, BuiltInParameters } from './evaluation/strategies.js';
export type {
  ChangeRequestApproval,
  ChangeRequestQuery,
  ChangeRequestStatus,
  ChangeRequestTime,
  RequestInput,
} from './features/change-requests/change-request.js';
export type {
  ApplyContext,
  Approval,
  ChangeRequestOptions,
  ChangeRequestRef,
  DecisionContext,
  NewChangeRequest,
} from './features/change-requests/change-request.types.js';
export type { ChangeRequests } from './features/change-requests/change-requests.operations.js';
export type { ApprovalPolicy, EnvironmentApproval, KnownApprovalPolicy } from './features/change-requests/policy.js';
export type { ApprovalPolicies } from './features/change-requests/policy.operations.js';
export type { ChangeOperationName } from './features/change-requests/vocabulary.js';
export type { ConsumeOptions, ConsumerReset, ConsumerStart } from './features/consumers/consumer.types.js';
export type { Consumers } from './features/consumers/consumers.operations.js';
export type {
  DefinedEnvironment,
  DefinedProject,
  DefinedSegment,
  DefinedStrategy,
  ExportQuery,
  ImportedChangeSet,
  ImportedDifference,
} from './features/definitions/definition.types.js';
export type { FlagDefinitions } from './features/definitions/definitions.operations.js';
export type {
  ContextPreview,
  FlagPreview,
  PreviewBucket,
  PreviewedEvaluation,
  PreviewQuery,
} from './features/environments/plan.types.js';
export type { FlagVisibility } from './features/flags/effect.decide.js';
export type { EnvironmentSummary, FlagMembers, LabelChanges } from './features/flags/flag.types.js';
export type { EnvironmentOverview, FlagSort } from './features/flags/flag-search.types.js';
export type {
  ConfiguredStrategy,
  EnvironmentInput,
  OwnStrategyInput,
  StoredStrategyName,
  StrategyMembers,
  StrategyPlace,
  StrategyReplacement,
} from './features/flags/strategy.types.js';
export type {
  RolloutEndReason,
  RolloutStatus,
  RolloutStep,
  StartedFrom,
  StrategyRollout,
} from './features/flags/strategy-rollout.types.js';
export type { WeightType } from './features/flags/variant.types.js';
export type { Events } from './features/history/event.operations.js';
export type { History } from './features/history/history.operations.js';
export type { DocumentDifference, UndoOptions } from './features/history/history.types.js';
export type {
  AdvanceOptions,
  GuardAnswer,
  GuardedRollout,
  NewRollout,
  NewRolloutStep,
  RolloutGuard,
  RolloutQuery,
  StopOptions,
} from './features/rollouts/rollout.types.js';
export type { Rollouts } from './features/rollouts/rollouts.operations.js';
export type { Segments } from './features/segments/segment.operations.js';
export type { SegmentQuery, SegmentRef } from './features/segments/segment.types.js';
export type { Tokens } from './features/tokens/token.operations.js';
export type { TokenChanges, TokenRef, TokenRotation, VerifiedToken } from './features/tokens/token.types.js';
export type { Applications } from './features/usage/applications.operations.js';
export type {
  ApplicationFilter,
  ApplicationInstance,
  BulkOrigin,
  BulkReport,
  ClientRegistration,
  EvaluationCounts,
  FlagApplication,
  FlagCounts,
  MetricsReport,
  ReportOrigin,
  SeenFlags,
  YesNo,
} from './features/usage/usage.types.js';
export type { Usage } from './features/usage/usage-over-time.operations.js';
export type { DueItem } from './flags.js';
export type {
  ActorOptions,
  AuthorizeDue,
  GivenActor,
  GivenPerson,
  NeededApproval,
  SegmentUseRequest,
} from './kernel/changes/change-set.types.js';
export type { DueMode } from './kernel/due/runner.js';
export type { ChangeAuthor } from './kernel/engine.js';
export type { FeedQuery, FlagsEventListener, SubscribeOptions } from './kernel/log/event.types.js';
export type { Reporter } from './storage/usage/port.js';
export type { SchemaOptions } from './typed-flags/define-flags.js';
export type {
  ContextDeclarations,
  DeclaredFlag,
  DefaultFlagType,
  DriftKind,
  FlagDeclaration,
  FlagDeclarations,
  PayloadDescription,
  StandardResult,
  StandardSchema,
  StrategyName,
  ValueDescription,
} from './typed-flags/schema.types.js';
export type {
  KnownName,
  RegisteredContextualFlags,
  TypedEvaluation,
  TypedFallback,
  TypedFallbackOption,
  TypedOptions,
} from './typed-flags.types.js';
export type { AudiencePart } from './words/audience.js';
