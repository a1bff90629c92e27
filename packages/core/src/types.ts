/*
 * The types of parts: of results, of inputs and of options. Code seldom names them: `@flags/core` exports what you pass
 * and get. Declaration files that TypeScript writes for your code refer to them.
 */

export type { AnyFlagRef, ApplicationRef, Awaitable, ChangeSetRef } from './base/common.types.js';
export type { PartDifference } from './base/parts.js';
export type { Environment, FlagType, Role } from './base/settings.types.js';
export type {
  ContextPreview,
  FlagPreview,
  PreviewBucket,
  PreviewedEvaluation,
  PreviewQuery,
  SegmentUseRequest,
  UndoOptions,
} from './changesets/change-set.types.js';
export type { ChangeOperationName, ChangeVocabulary } from './changesets/operations.js';
export type {
  DefinedEnvironment,
  DefinedProject,
  DefinedSegment,
  DefinedStrategy,
  ExportQuery,
  ImportedChangeSet,
  ImportedDifference,
} from './definitions/definition.types.js';
export type {
  ConstraintDefinition,
  DependencyDefinition,
  FlagDefinition,
  ParameterValue,
  PayloadType,
  StrategyDefinition,
  VariantDefinition,
  VariantOverride,
} from './evaluation/definitions.types.js';
export type {
  ConstraintExplanation,
  ContextEnvironment,
  ContextMembers,
  DependencyExplanation,
  EnvironmentChoice,
  EnvironmentConfiguration,
  ExplanationReason,
  FallbackVariant,
  FlagConfiguration,
  PassEnvironmentAsOption,
  PayloadOptions,
  RolloutExplanation,
  SegmentConfiguration,
  SegmentExplanation,
  VariantExplanation,
  VariantOptions,
} from './evaluation/evaluation.types.js';
export type { EvaluationProblemCode } from './evaluation/problem.js';
export type { BuiltInName, BuiltInParameters } from './evaluation/strategies.js';
export type { EffectState, FlagVisibility } from './flags/effect.decide.js';
export type { EnvironmentSummary, LabelChanges } from './flags/flag.types.js';
export type { EnvironmentOverview, FlagSort } from './flags/flag-search.types.js';
export type {
  ConfiguredStrategy,
  EnvironmentInput,
  OwnStrategyInput,
  StrategyMembers,
  StrategyPlace,
  StrategyReplacement,
} from './flags/strategy.types.js';
export type { WeightType } from './flags/variant.types.js';
export type { FeedQuery, FlagsEventListener, SubscribeOptions } from './log/event.types.js';
export type { DocumentDifference, DocumentName } from './log/history.types.js';
export type { SegmentQuery, SegmentRef } from './segments/segment.types.js';
export type { Reporter } from './storage/usage/port.js';
export type { TokenChanges, TokenRef, TokenRotation } from './tokens/token.types.js';
export type { SchemaOptions } from './typed-flags/define-flags.js';
export type {
  ContextDeclarations,
  DeclaredFlag,
  DefaultFlagType,
  DriftKind,
  FlagDeclaration,
  FlagDeclarations,
  PayloadDescription,
  PayloadOf,
  StandardResult,
  StandardSchema,
  ValueDescription,
} from './typed-flags/schema.types.js';
export type {
  KnownName,
  RegisteredContextualFlags,
  TypedChoice,
  TypedEvaluation,
  TypedFallback,
  TypedFallbackOption,
  TypedOptions,
  TypedProperties,
} from './typed-flags.types.js';
export type {
  ApplicationFilter,
  ApplicationInstance,
  BulkReport,
  ClientRegistration,
  EvaluationCounts,
  FlagApplication,
  FlagCounts,
  MetricsReport,
  ReportOrigin,
  SeenFlags,
  YesNo,
} from './usage/usage.types.js';
export type { AudiencePart } from './words/audience.js';
