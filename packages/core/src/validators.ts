import type { JsonPatch, PageQuery, ProjectRef } from './common.types.js';
import type { ErrorDetail } from './errors.js';
import type { EventQuery } from './events/event.types.js';
import type { DependencyInput } from './flags/dependency.types.js';
import { findLabelIssues } from './flags/flag.schema.js';
import type { FlagChanges, LabelChanges, NewFlag } from './flags/flag.types.js';
import type { FlagQuery } from './flags/flag-search.types.js';
import {
  findConstraintIssues,
  findCostIssues,
  findEnvironmentIssues,
  findStrategyIssues,
  issuesOrElse,
} from './flags/strategies.schema.js';
import type { EnvironmentInput, StrategyInput, StrategyReplacement } from './flags/strategy.types.js';
import type { VariantInput } from './flags/variant.types.js';
import { findVariantsIssues } from './flags/variants.schema.js';
import type { Settings } from './flags.js';
import { inputSchemas } from './input-schemas.js';
import { findBulkIssues, findPeriodIssues, findRegistrationIssues, findUsageIssues } from './metrics/metrics.schema.js';
import type { BulkReport, ClientRegistration, MetricsReport, UsageFilter } from './metrics/metrics.types.js';
import type { Member, NewProject, ProjectChanges } from './projects/project.types.js';
import type { NewSegment, SegmentChanges } from './segments/segment.types.js';
import { findTokenIssues } from './tokens/token.schema.js';
import type { NewToken, TokenRotation } from './tokens/token.types.js';
import { findPatchIssues } from './validation/json-patch.js';
import { LIMITS } from './validation/limits.js';
import { createValidator } from './validation/validator.js';

export type Validators = ReturnType<typeof createValidators>;

/** Creates one validator per input. Each throws `invalid_input`. */
export function createValidators(settings: Settings) {
  const schemas = inputSchemas(settings);
  return {
    newFlag: createValidator<NewFlag>(schemas.newFlag, findLabelIssues),
    flagChanges: createValidator<FlagChanges>(schemas.flagChanges, findLabelIssues),
    labelChanges: createValidator<LabelChanges>(schemas.labelChanges),
    clone: createValidator<{ readonly name: string }>(schemas.clone),
    move: createValidator<ProjectRef>(schemas.move),
    strategy: createValidator<StrategyInput>(schemas.strategy, findStrategyIssues),
    strategyReplacement: createValidator<StrategyReplacement>(schemas.strategyReplacement, findStrategyIssues),
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
    tokenRotation: createValidator<TokenRotation>(schemas.tokenRotation),
    eventQuery: createValidator<EventQuery>(schemas.eventQuery),
    flagQuery: createValidator<FlagQuery>(schemas.flagQuery, findFlagQueryIssues),
    pageQuery: createValidator<PageQuery>(schemas.pageQuery),
  };
}

function findSegmentIssues({ constraints = [] }: SegmentChanges): Iterable<ErrorDetail> {
  return issuesOrElse(findConstraintIssues(constraints), () => findCostIssues(constraints, LIMITS.flagCost));
}

function findFlagQueryIssues({ canRead }: FlagQuery): readonly ErrorDetail[] {
  if (canRead === undefined || typeof canRead === 'function') return [];
  return [{ message: 'must be a function', path: '/canRead' }];
}

/** A parent that is off has no variant. */
function findDependencyIssues({ enabled = true, variants = [] }: DependencyInput): readonly ErrorDetail[] {
  if (enabled || variants.length === 0) return [];
  return [{ message: 'must be empty where the parent has to be off', path: '/variants' }];
}
