import type { JsonPatch, PageQuery } from './common.types.js';
import type { ErrorDetail } from './errors.js';
import type { EventQuery } from './events/event.types.js';
import type { DependencyInput } from './flags/dependency.types.js';
import type { FlagChanges, NewFlag } from './flags/flag.types.js';
import { findConstraintFaults, findCostFaults, findStrategyFaults, orElse } from './flags/strategies.schema.js';
import type { StrategyInput, StrategyReplacement } from './flags/strategy.types.js';
import type { VariantInput } from './flags/variant.types.js';
import { findVariantsFaults } from './flags/variants.schema.js';
import type { Settings } from './flags.js';
import { inputSchemas } from './input-schemas.js';
import { findBulkFaults, findPeriodFaults, findRegistrationFaults } from './metrics/metrics.schema.js';
import type { BulkReport, ClientRegistration, MetricsReport } from './metrics/metrics.types.js';
import type { Member, NewProject, ProjectChanges } from './projects/project.types.js';
import type { NewSegment, SegmentChanges } from './segments/segment.types.js';
import { findTokenFaults } from './tokens/token.schema.js';
import type { NewToken } from './tokens/token.types.js';
import { findPatchFaults } from './validation/json-patch.schema.js';
import { LIMITS } from './validation/limits.js';
import { createValidator } from './validation/validator.js';

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
