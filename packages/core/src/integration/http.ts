/*
 * For `@flags/http` and what mounts it: `@flags/express` and the command line. Not part of the public API: it may change in
 * any release.
 */

// References, pages and limits

export { readPages } from '../base/pages.js';

// Flags

export { FLAG_MEMBER_NAMES, FLAG_MEMBERS, membersOf } from '../features/flags/flag.js';
export { readBesideFlag } from '../features/flags/flag.operations.js';
export type { FlagEntry } from '../features/flags/flag-lists.js';

// API tokens

export { isApiToken } from '../features/tokens/token-verification.operations.js';

// Change sets and history

export {
  type AnyOperationName,
  CHANGE_OPERATIONS,
  type ChangeArguments,
  describeEvent,
  type OperationName,
  operationOf,
  projectsOf,
  REQUEST_OPERATIONS,
  type ResultOf,
} from '../features.js';
export { readPersonId } from '../kernel/changes/run-operation.js';

// Change requests

export { REQUEST_STATES } from '../features/change-requests/change-request.js';
export { changeRequestNotFound } from '../features/change-requests/requests.js';

// Rollouts

export { ROLLOUT_STATES } from '../features/flags/strategy-rollout.types.js';

// Events

export type { WireEventQuery } from '../kernel/log/event.types.js';
export { WIRE_NAMES, type WireEventType } from '../words/event-names.js';

// Typed flags

export { payloadValue } from '../typed-flags/payload.js';
export type { TypedChoice } from '../typed-flags.types.js';

// Evaluation

export { evaluatePaced } from '../evaluation/evaluate-paced.js';
export { withoutMapping } from '../evaluation/ip-address.js';
export { BUILT_IN_STRATEGIES, type BuiltInStrategy, LIST_NOUNS, type StrategyRow } from '../evaluation/strategies.js';

// Evaluation in the terms of OpenFeature

export { findFlag } from '../openfeature/find.js';
export { createPacedResolution, type ResolutionMetadata } from '../openfeature/resolution.js';
export { type OpenFeatureContext, toProperties } from '../openfeature/values.js';

// Errors

export { shortenMessage } from '../base/errors.js';

// Validation

export type { Choices, CompiledSchema, Validator } from '../base/validator.js';
export { type InputSchemas, inputSchemas } from '../input-schemas.js';

// JSON values

export { cloneJson, cloneWithoutPrototypes, isSameJson } from '../base/json.js';

// Listeners, lifetimes and long work

export { memoizeAsync } from '../base/memoize.js';
export { paced } from '../base/paced.js';

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
  type RevisedResult,
  type StoredFlag,
  verifyTicket,
} from '../router.operations.js';

// Flags on the wire to clients

export {
  clientConstraintToWire,
  clientFlagToWire,
  clientSegmentToWire,
  clientStrategyToWire,
  strategiesInUse,
} from '../features/environments/client-wire.js';

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
} from '../features/consumers/event-wire.js';
