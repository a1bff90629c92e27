import { deepFreeze } from './base/json.js';
import { LIMITS } from './base/limits.js';
import { validatePageQuery } from './base/pages.js';
import { dateTime, type JsonSchema, type ObjectSchema, pageQuery } from './base/primitives.js';
import type { FlagsSettings } from './base/settings.types.js';
import { createValidator } from './base/validator.js';
import { consumerInput, consumerReset } from './consumers/consumer.js';
import type { ErrorDetail } from './errors.js';
import {
  changeRequestApproval,
  changeRequestQuery,
  changeRequestTime,
  newChangeRequest,
} from './features/change-requests/change-request.schema.js';
import { approvalPolicy } from './features/change-requests/policy.schema.js';
import { findRolloutIssues, newRollout, rolloutAdvance, rolloutStop } from './features/rollouts/rollout.schema.js';
import { EVENT_TYPES } from './features.js';
import {
  clone,
  dependency,
  findDependencyIssues,
  findLabelIssues,
  flagChanges,
  flagQuery,
  labelChanges,
  move,
  newFlag,
  parent,
} from './flags/flag.schema.js';
import {
  constraint,
  environment,
  findEnvironmentIssues,
  findRepeatedIds,
  findStrategyIssues,
  strategy,
  strategyOrder,
  strategyReplacement,
} from './flags/strategies.schema.js';
import type { StrategyPlace } from './flags/strategy.types.js';
import type { VariantInput } from './flags/variant.types.js';
import { findVariantsIssues, variant, variants } from './flags/variants.schema.js';
import type { FeedQuery, WireEventQuery } from './log/event.types.js';
import { member, newProject, projectChanges } from './projects/project.schema.js';
import { findSegmentIssues, newSegment, segmentChanges } from './segments/segment.schema.js';
import { findTokenIssues, newToken, tokenChanges, tokenRotation } from './tokens/token.schema.js';
import {
  bulkReport,
  findBulkIssues,
  findPeriodIssues,
  findRegistrationIssues,
  findUsageIssues,
  metricsReport,
  registration,
  usageFilter,
} from './usage/usage.schema.js';

/** The JSON Schema of an input, and the validator of that schema and of the rules that it cannot state. */
function input<T>(schema: JsonSchema, findIssues?: (input: T) => Iterable<ErrorDetail>) {
  return { schema, validate: createValidator<T>(schema, findIssues) };
}

/** The schema of an object, which names the members of the type. */
function object<T>(schema: ObjectSchema<T>, findIssues?: (input: T) => Iterable<ErrorDetail>) {
  return input<T>(schema, findIssues);
}

/** Every input, by its name. */
function inputsOf(settings: FlagsSettings) {
  const flagTypes = settings.flagTypes.map((type) => type.name);
  return {
    newFlag: object(newFlag(flagTypes), findLabelIssues),
    flagChanges: object(flagChanges(flagTypes), findLabelIssues),
    labelChanges: object(labelChanges),
    clone: object(clone),
    move: object(move),
    strategy: object(strategy, findStrategyIssues),
    strategyReplacement: object(strategyReplacement, findStrategyIssues),
    strategyOrder: input<readonly StrategyPlace[]>(strategyOrder, findRepeatedIds),
    environment: object(environment, findEnvironmentIssues),
    constraint: object(constraint),
    variants: input<readonly VariantInput[]>(variants, findVariantsIssues),
    variant: object(variant),
    newSegment: object(newSegment, findSegmentIssues),
    segmentChanges: object(segmentChanges, findSegmentIssues),
    dependency: object(dependency, findDependencyIssues),
    parent: object(parent),
    member: object(member),
    newProject: object(newProject),
    projectChanges: object(projectChanges),
    registration: object(registration, findRegistrationIssues),
    metricsReport: object(metricsReport, findPeriodIssues),
    bulkReport: object(bulkReport, findBulkIssues),
    usageFilter: object(usageFilter, findUsageIssues),
    newToken: object(newToken, findTokenIssues),
    tokenChanges: object(tokenChanges),
    tokenRotation: object(tokenRotation),
    flagQuery: object(flagQuery),
    eventQuery: object(eventQuery),
    feedQuery: object(feedQuery),
    newRollout: object(newRollout, findRolloutIssues),
    rolloutAdvance: object(rolloutAdvance),
    rolloutStop: object(rolloutStop),
    approvalPolicy: object(approvalPolicy),
    newChangeRequest: object(newChangeRequest),
    changeRequestApproval: object(changeRequestApproval),
    changeRequestTime: object(changeRequestTime),
    changeRequestQuery: object(changeRequestQuery),
    consumer: object(consumerInput),
    consumerReset: object(consumerReset),
    pageQuery: { schema: pageQuery, validate: validatePageQuery },
  };
}

type Inputs = ReturnType<typeof inputsOf>;

/** The JSON Schema of every input, by the input's name. */
export type InputSchemas = { readonly [Name in keyof Inputs]: JsonSchema };

/**
 * Returns the JSON Schemas that operations validate their input with, for documents such as OpenAPI.
 *
 * @example
 * const { newFlag } = inputSchemas(flags.settings);
 */
export function inputSchemas(settings: FlagsSettings): InputSchemas {
  const schemas = Object.entries(inputsOf(settings)).map(([name, { schema }]) => [name, schema]);
  return deepFreeze(Object.fromEntries(schemas));
}

/** One validator per input. Each throws `invalid_input`. */
export type Validators = { readonly [Name in keyof Inputs]: Inputs[Name]['validate'] };

export function createValidators(settings: FlagsSettings): Validators {
  const validators = Object.entries(inputsOf(settings)).map(([name, { validate }]) => [name, validate]);
  return Object.fromEntries(validators);
}

const eventQuery: ObjectSchema<WireEventQuery> = {
  type: 'object',
  properties: {
    project: { type: 'string' },
    flag: { type: 'string' },
    type: { type: 'string', enum: EVENT_TYPES },
    from: dateTime,
    to: dateTime,
    since: { type: 'string', maxLength: LIMITS.label },
    after: { type: 'string', maxLength: LIMITS.label },
    limit: { type: 'integer', minimum: 0, maximum: LIMITS.eventsPerPage },
    offset: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  },
};

const feedQuery: ObjectSchema<FeedQuery> = {
  type: 'object',
  properties: {
    after: { type: ['string', 'null'], maxLength: LIMITS.label },
    limit: { type: 'integer', minimum: 0, maximum: LIMITS.eventsPerPage },
  },
};
