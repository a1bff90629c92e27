import type { DependencyInput } from '../api/dependencies.js';
import type { Settings } from '../api/engine.js';
import type { EventQuery } from '../api/events.js';
import type { FlagChanges, NewFlag } from '../api/flags.js';
import type { JsonPatch } from '../api/json-patch.js';
import type { Member } from '../api/members.js';
import type { BulkReport, ClientRegistration, MetricsReport } from '../api/metrics.js';
import type { PageQuery } from '../api/pages.js';
import type { NewProject, ProjectChanges } from '../api/projects.js';
import type { NewSegment, SegmentChanges } from '../api/segments.js';
import type { StrategyInput, StrategyReplacement } from '../api/strategies.js';
import type { NewToken } from '../api/tokens.js';
import type { VariantInput } from '../api/variants.js';
import type { ErrorDetail } from '../errors.js';
import { findConstraintFaults, findCostFaults, orElse } from './constraint-faults.js';
import { inputSchemas } from './input-schemas.js';
import { LIMITS } from './limits.js';
import { findBulkFaults, findPeriodFaults, findRegistrationFaults } from './report-faults.js';
import { findPatchFaults } from './schemas/json-patch.js';
import { findStrategyFaults } from './strategy-faults.js';
import { findTokenFaults } from './token-faults.js';
import { createValidator } from './validator.js';
import { findVariantsFaults } from './variant-faults.js';

export type Validators = ReturnType<typeof createValidators>;

/** The door of the core: one validator per input. Each refuses with `invalid_input`. */
export function createValidators(settings: Settings) {
  const schemas = inputSchemas(settings);
  return {
    newFlag: createValidator<NewFlag>(schemas.newFlag),
    flagChanges: createValidator<FlagChanges>(schemas.flagChanges),
    clone: createValidator<{ readonly name: string }>(schemas.clone),
    strategy: createValidator<StrategyInput>(schemas.strategy, findStrategyFaults),
    strategyReplacement: createValidator<StrategyReplacement>(schemas.strategyReplacement, findStrategyFaults),
    variants: createValidator<readonly VariantInput[]>(schemas.variants, findVariantsFaults),
    jsonPatch: createValidator<JsonPatch>(schemas.jsonPatch, findPatchFaults),
    newSegment: createValidator<NewSegment>(schemas.newSegment, findSegmentFaults),
    segmentChanges: createValidator<SegmentChanges>(schemas.segmentChanges, findSegmentFaults),
    dependency: createValidator<DependencyInput>(schemas.dependency, findDependencyFaults),
    member: createValidator<Member>(schemas.member),
    newProject: createValidator<NewProject>(schemas.newProject),
    projectChanges: createValidator<ProjectChanges>(schemas.projectChanges),
    registration: createValidator<ClientRegistration>(schemas.registration, findRegistrationFaults),
    metricsReport: createValidator<MetricsReport>(schemas.metricsReport, findPeriodFaults),
    bulkReport: createValidator<BulkReport>(schemas.bulkReport, findBulkFaults),
    newToken: createValidator<NewToken>(schemas.newToken, findTokenFaults),
    eventQuery: createValidator<EventQuery>(schemas.eventQuery),
    pageQuery: createValidator<PageQuery>(schemas.pageQuery),
  };
}

function findSegmentFaults({ constraints = [] }: SegmentChanges): Iterable<ErrorDetail> {
  return orElse(findConstraintFaults(constraints), () => findCostFaults(constraints, LIMITS.flagCost));
}

/** A parent that is off has no variant. */
function findDependencyFaults({ enabled = true, variants = [] }: DependencyInput): readonly ErrorDetail[] {
  if (enabled || variants.length === 0) return [];
  return [{ message: 'must be empty where the parent has to be off', path: '/variants' }];
}
