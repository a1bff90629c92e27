import type { JsonPatch, PageQuery, ProjectRef } from './base/common.types.js';
import { deepFreeze } from './base/json.js';
import { findPatchIssues, jsonPatch } from './base/json-patch.js';
import { LIMITS } from './base/limits.js';
import { dateTime, type JsonSchema, type ObjectSchema, pageQuery } from './base/primitives.js';
import type { FlagsSettings } from './base/settings.types.js';
import { createValidator } from './base/validator.js';
import type { ErrorDetail } from './errors.js';
import { EVENT_TYPES, type EventQuery, type FeedQuery } from './events/event.types.js';
import type { DependencyInput } from './flags/dependency.types.js';
import {
  clone,
  dependency,
  findLabelIssues,
  flagChanges,
  flagQuery,
  labelChanges,
  move,
  newFlag,
  parent,
} from './flags/flag.schema.js';
import type { FlagChanges, LabelChanges, NewFlag } from './flags/flag.types.js';
import type { FlagQuery } from './flags/flag-search.types.js';
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
import type { EnvironmentInput, StrategyInput, StrategyPlace, StrategyReplacement } from './flags/strategy.types.js';
import type { VariantInput } from './flags/variant.types.js';
import { findVariantsIssues, variant, variants } from './flags/variants.schema.js';
import { member, newProject, projectChanges } from './projects/project.schema.js';
import type { Member, NewProject, ProjectChanges } from './projects/project.types.js';
import { findSegmentIssues, newSegment, segmentChanges } from './segments/segment.schema.js';
import type { NewSegment, SegmentChanges } from './segments/segment.types.js';
import { findTokenIssues, newToken, tokenChanges, tokenRotation } from './tokens/token.schema.js';
import type { NewToken, TokenChanges, TokenRotation } from './tokens/token.types.js';
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
import type { BulkReport, ClientRegistration, MetricsReport, UsageFilter } from './usage/usage.types.js';

/** The JSON Schema of every input, by the input's name. */
export type InputSchemas = ReturnType<typeof inputSchemas>;

/**
 * Returns the JSON Schemas that operations validate their input with, for documents such as OpenAPI.
 *
 * @example
 * const { newFlag } = inputSchemas(flags.settings);
 */
export function inputSchemas(settings: FlagsSettings) {
  const flagTypes = settings.flagTypes.map((type) => type.name);
  return deepFreeze({
    newFlag: newFlag(flagTypes) as JsonSchema,
    flagChanges: flagChanges(flagTypes) as JsonSchema,
    labelChanges: labelChanges as JsonSchema,
    clone: clone as JsonSchema,
    move: move as JsonSchema,
    strategy: strategy as JsonSchema,
    strategyReplacement: strategyReplacement as JsonSchema,
    strategyOrder,
    environment: environment as JsonSchema,
    constraint: constraint as JsonSchema,
    variants,
    variant: variant as JsonSchema,
    jsonPatch,
    newSegment: newSegment as JsonSchema,
    segmentChanges: segmentChanges as JsonSchema,
    dependency: dependency as JsonSchema,
    parent: parent as JsonSchema,
    member: member as JsonSchema,
    newProject: newProject as JsonSchema,
    projectChanges: projectChanges as JsonSchema,
    registration: registration as JsonSchema,
    metricsReport: metricsReport as JsonSchema,
    bulkReport: bulkReport as JsonSchema,
    usageFilter: usageFilter as JsonSchema,
    newToken: newToken as JsonSchema,
    tokenChanges: tokenChanges as JsonSchema,
    tokenRotation: tokenRotation as JsonSchema,
    flagQuery: flagQuery as JsonSchema,
    eventQuery: eventQuery as JsonSchema,
    feedQuery: feedQuery as JsonSchema,
    pageQuery: pageQuery as JsonSchema,
  });
}

export type Validators = ReturnType<typeof createValidators>;

/** Creates one validator per input. Each throws `invalid_input`. */
export function createValidators(settings: FlagsSettings) {
  const schemas = inputSchemas(settings);
  return {
    newFlag: createValidator<NewFlag>(schemas.newFlag, findLabelIssues),
    flagChanges: createValidator<FlagChanges>(schemas.flagChanges, findLabelIssues),
    labelChanges: createValidator<LabelChanges>(schemas.labelChanges),
    clone: createValidator<{ readonly name: string }>(schemas.clone),
    move: createValidator<ProjectRef>(schemas.move),
    strategy: createValidator<StrategyInput>(schemas.strategy, findStrategyIssues),
    strategyReplacement: createValidator<StrategyReplacement>(schemas.strategyReplacement, findStrategyIssues),
    strategyOrder: createValidator<readonly StrategyPlace[]>(schemas.strategyOrder, findRepeatedIds),
    environment: createValidator<EnvironmentInput>(schemas.environment, findEnvironmentIssues),
    variants: createValidator<readonly VariantInput[]>(schemas.variants, findVariantsIssues),
    jsonPatch: createValidator<JsonPatch>(schemas.jsonPatch, findPatchIssues),
    newSegment: createValidator<NewSegment>(schemas.newSegment, findSegmentIssues),
    segmentChanges: createValidator<SegmentChanges>(schemas.segmentChanges, findSegmentIssues),
    dependency: createValidator<DependencyInput>(schemas.dependency, findDependencyIssues),
    parent: createValidator<{ readonly flag: string }>(schemas.parent),
    member: createValidator<Member>(schemas.member),
    newProject: createValidator<NewProject>(schemas.newProject),
    projectChanges: createValidator<ProjectChanges>(schemas.projectChanges),
    registration: createValidator<ClientRegistration>(schemas.registration, findRegistrationIssues),
    metricsReport: createValidator<MetricsReport>(schemas.metricsReport, findPeriodIssues),
    bulkReport: createValidator<BulkReport>(schemas.bulkReport, findBulkIssues),
    usageFilter: createValidator<UsageFilter>(schemas.usageFilter, findUsageIssues),
    newToken: createValidator<NewToken>(schemas.newToken, findTokenIssues),
    tokenChanges: createValidator<TokenChanges>(schemas.tokenChanges),
    tokenRotation: createValidator<TokenRotation>(schemas.tokenRotation),
    eventQuery: createValidator<WireEventQuery>(schemas.eventQuery),
    feedQuery: createValidator<FeedQuery>(schemas.feedQuery),
    flagQuery: createValidator<FlagQuery>(schemas.flagQuery),
    pageQuery: createValidator<PageQuery>(schemas.pageQuery),
  };
}

/** A parent that is off has no variant. */
function findDependencyIssues({ enabled = true, variants = [] }: DependencyInput): readonly ErrorDetail[] {
  if (enabled || variants.length === 0) return [];
  return [{ message: 'must be empty where the parent has to be off', path: '/variants' }];
}

/** The query of the HTTP API, which pages by `offset`. Only the first-party router passes it. */
export interface WireEventQuery extends EventQuery {
  /** The number of events to skip. Default: 0. */
  readonly offset?: number;
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
