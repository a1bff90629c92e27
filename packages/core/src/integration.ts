/*
 * For packages that build on the engine: routers, providers and storages; and types of parts of results, which
 * declaration files refer to. Not part of the public API: it may change in any release.
 */

// Opening flags

export { createErrorReporter, createSettings } from './options.js';

// Checks of options

export { describeNonFlags, describeUnknownOption, isStorage } from './base/option-names.js';

// References, pages and limits

export type { Awaitable } from './base/common.types.js';
export { readPages } from './base/pages.js';

// Flags

export type { EffectState, FlagVisibility } from './features/flags/effect.decide.js';
export type { FlagEntry } from './features/flags/flag-lists.operations.js';
export { FLAG_MEMBER_NAMES, FLAG_MEMBERS, membersOf } from './features/flags/flag-members.js';
export type { StrategyMembers } from './features/flags/strategy.types.js';

// API tokens

export { createTicket, readTicket, type TicketSigner } from './features/tokens/ticket.js';
export { hashSecret, idOfHash, isApiToken, toToken } from './features/tokens/token-verification.operations.js';

// Change sets and history

export type {
  ContextPreview,
  FlagPreview,
  PreviewBucket,
  PreviewedEvaluation,
} from './features/environments/plan.types.js';
export type { DocumentDifference } from './features/history/history.types.js';
export {
  CHANGE_OPERATIONS,
  type ChangeArguments,
  type OperationName,
  operationOf,
  REQUEST_OPERATIONS,
  type ResultOf,
} from './features.js';
export type { DocumentName } from './kernel/changes/change-set.types.js';
export { readPersonId } from './kernel/changes/run-operation.js';

// Change requests

export { REQUEST_STATES } from './features/change-requests/change-request.js';
export { type CanReadRequest, changeRequestNotFound } from './features/change-requests/change-requests.operations.js';
export type { ChangeVocabulary } from './features/change-requests/vocabulary.js';

// Rollouts

export { ROLLOUT_STATES } from './features/flags/rollout.types.js';
export type { CanReadRollout } from './features/rollouts/rollouts.operations.js';

// Events

export { describeEvent, projectsOf } from './features.js';
export type { WireEventQuery } from './kernel/log/event.types.js';
export { WIRE_NAMES } from './words/event-names.js';

// Flags as code

export type { ImportedChangeSet } from './features/definitions/definition.types.js';

// Typed flags

export { assertSchemaFits, createPropertyLift } from './typed-flags/define-flags.js';
export {
  createPayloadReader,
  type PayloadObject,
  type PayloadValue,
  payloadReaderOf,
  payloadValue,
} from './typed-flags/payload.js';
export type { PayloadOf } from './typed-flags/schema.types.js';
export type { KnownName, TypedChoice, TypedProperties } from './typed-flags.types.js';

// Evaluation

export {
  type ClientDocument,
  type ReportProblem,
  readClientDocument,
  readClientFlag,
  readClientSegment,
} from './evaluation/client-document.js';
export type {
  ConstraintDefinition,
  DependencyDefinition,
  FlagDefinition,
  Payload,
  StrategyDefinition,
  VariantDefinition,
  VariantOverride,
} from './evaluation/definitions.types.js';
export { evaluatePaced, type PacedEvaluation } from './evaluation/evaluate-paced.js';
export {
  type ContextOptions,
  type EvaluatedState,
  Evaluation,
  type EvaluationParts,
} from './evaluation/evaluation.js';
export type {
  ConstraintExplanation,
  ContextArgument,
  DependencyExplanation,
  EnvironmentConfiguration,
  FlagConfiguration,
  FollowedEvaluation,
  PassEnvironmentAsOption,
  PayloadReader,
  PayloadReading,
  RolloutExplanation,
  SegmentConfiguration,
  SegmentExplanation,
  VariantExplanation,
} from './evaluation/evaluation.types.js';
export { withoutMapping } from './evaluation/ip-address.js';
export { loadedPatterns, loadPatternsFor } from './evaluation/load-patterns.js';
export { ProblemReporter } from './evaluation/problem.js';
export { compileSnapshot, type Snapshot, type SnapshotChange, type SnapshotOptions } from './evaluation/snapshot.js';
export {
  BUILT_IN_STRATEGIES,
  type BuiltInStrategy,
  LIST_NOUNS,
  STRATEGIES,
  type StrategyParameter,
  type StrategyRow,
} from './evaluation/strategies.js';
export {
  type EnvironmentCount,
  type FlagUsage,
  onUsageFlush,
  UsageCounters,
  type UsageFlush,
  type VariantUsage,
} from './evaluation/usage-counters.js';

// Evaluation in the terms of OpenFeature

export { findFlag } from './openfeature/find.js';
export type { ResolutionReason } from './openfeature/reason.js';
export {
  createPacedResolution,
  type FlagResolution,
  type ResolutionMetadata,
  type ResolutionScope,
  type ResolvedVariant,
  resolveSwitch,
  resolveVariant,
} from './openfeature/resolution.js';
export { type OpenFeatureContext, toProperties } from './openfeature/values.js';

// Usage

export { hourOfPeriod } from './features/usage/usage-reports.js';

// Storages

export {
  type PreparedCommit,
  type PreparedContent,
  type PreparedEvent,
  type PreparedWrite,
  prepareCommit,
} from './storage/commit.js';

// Storages of usage

export { createUsageDeletion, usageRemovals } from './storage/usage/deletion.js';
export type { ReadUsage, UsageDialect, UsageStatement, UsageValues } from './storage/usage/dialect.js';
export {
  type ApplicationRegistration,
  type DroppedUsage,
  type UsageBatch,
  type UsageReport,
  type UsageStorage,
  usageOf,
} from './storage/usage/port.js';
export { createUsageReader } from './storage/usage/reading.js';
export {
  type Admission,
  type AdmissionState,
  addCount,
  addDropped,
  applicationsOf,
  boundedSum,
  type CountRow,
  decideAdmission,
  HOUR,
  type InstanceRow,
  NOTHING_DROPPED,
  RESOLUTIONS,
  rowsOf,
  type UsageRows,
} from './storage/usage/rules.js';

// Errors

export { shortenMessage } from './base/errors.js';
export { emitWarning } from './base/printable.js';

// Validation

export type { CompiledSchema } from './base/compiled-schema.js';
export { type JsonSchema, parseClientTime } from './base/primitives.js';
export { type Choices, createValidator, type Validator } from './base/validator.js';
export { createValidators, type InputSchemas, inputSchemas } from './input-schemas.js';

// JSON values

export { cloneJson, cloneWithoutPrototypes, freezeJson, isObject, isSameJson } from './base/json.js';
export type { PartDifference } from './base/parts.js';

// Listeners, lifetimes and long work

export { compareCodePoints, createListeners, type Listeners } from './base/collections.js';
export { createLifetime, type Lifetime } from './base/lifetime.js';
export { memoizeAsync } from './base/memoize.js';
export { nextTurn, paced, pause } from './base/paced.js';
export { sleep } from './base/sleep.js';

// Operations that only routers call

export {
  acceptsTimes,
  changeByFlag,
  changeRevised,
  type DataVersionScope,
  dataVersion,
  exportReadableDefinitions,
  issueTicket,
  listFlagEntries,
  listReadableChangeRequests,
  listReadableFlags,
  listReadableRollouts,
  loadDefinitions,
  projectOfSegment,
  type Revised,
  readBesideFlag,
  type StoredFlag,
  verifyTicket,
} from './router.operations.js';

// Flags on the wire to clients

export {
  clientConstraintToWire,
  clientFlagToWire,
  clientSegmentToWire,
  clientStrategyToWire,
  strategiesInUse,
} from './features/environments/client-wire.js';

// Events on the wire

export {
  constraintToWire,
  dependencyToWire,
  eventToWire,
  eventTypeToWire,
  flagToWire,
  rolloutToWire,
  strategyToWire,
  tokenToWire,
  toWireState,
  variantToWire,
  type WireEventType,
} from './features/consumers/event-wire.js';

// Words

export type { AudiencePart } from './words/audience.js';
