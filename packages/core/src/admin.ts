/*
 * For the admin page and the command line: rules and words that both share. Runs in browsers, without Node. Not part of
 * the public API: it may change in any release.
 */

export { isSameJson } from './base/json.js';
export { type Choices, compareStates, type Merge, memberOf, mergeStates } from './base/parts.js';
export { printable, UNPRINTABLE } from './base/printable.js';
export { PAYLOAD_TYPES } from './evaluation/definitions.types.js';
export { type OperandKind, operandOf, operatorOf, takesValues } from './evaluation/operators.js';
export {
  HASHING,
  noEffectInConstraint,
  ownStrategiesOf,
  STRATEGIES,
  unknownInStrategy,
} from './evaluation/strategies.js';
export {
  defaultEnvironment,
  describeEffects,
  effectsToReview,
  hiddenToReview,
  isReviewed,
  type ReviewScope,
} from './features/flags/review.js';
export { rolloutTo, switchChanges } from './features/flags/switch-changes.js';
export { audienceOf, describeAudience, describeState } from './words/audience.js';
export {
  type ComparedDocument,
  type DescribedDifference,
  describeDifferences,
  describeDocument,
  describePath,
  describeValue,
  differenceText,
  type Names,
  nameStrategies,
} from './words/describe-differences.js';
export { describeRequestEvent } from './words/describe-request.js';
export { describeRolloutEvent, describeSteps, isRollout, rolloutsEndedBy } from './words/describe-rollout.js';
export {
  describeCondition,
  describeConditions,
  describeConstraint,
  describeReason,
  describeStrategy,
  describeVariant,
  itemsOf,
  listOf,
  OPERATOR_WORDS,
  strategyName,
  strategyTitle,
} from './words/describe-strategy.js';
export { EVENT_WORDS } from './words/event-names.js';
