/*
 * For the admin page and the command line: rules and words that both share. Runs in browsers, without Node. This entry
 * carries no stability promise to others.
 */

export { compareStates } from './base/parts.js';
export { audienceOf, describeAudience, describeState } from './evaluation/audience.js';
export {
  defaultEnvironment,
  describeEffects,
  effectsToReview,
  hiddenToReview,
  isReviewed,
  type ReviewScope,
} from './flags/review.js';
