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
import { findConstraintFaults } from './constraint-faults.js';
import { inputSchemas } from './input-schemas.js';
import { parseIsoDate } from './iso-date.js';
import { LIMITS } from './limits.js';
import { findPatchFaults } from './schemas/json-patch.js';
import { findStrategyFaults } from './strategy-faults.js';
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
    registration: createValidator<ClientRegistration>(schemas.registration),
    metricsReport: createValidator<MetricsReport>(schemas.metricsReport, findPeriodFaults),
    bulkReport: createValidator<BulkReport>(schemas.bulkReport, findBulkFaults),
    newToken: createValidator<NewToken>(schemas.newToken, findScopeFaults),
    eventQuery: createValidator<EventQuery>(schemas.eventQuery),
    pageQuery: createValidator<PageQuery>(schemas.pageQuery),
  };
}

function findSegmentFaults({ constraints = [] }: SegmentChanges): Iterable<ErrorDetail> {
  return findConstraintFaults(constraints);
}

/** A parent that is off has no variant. */
function findDependencyFaults({ enabled = true, variants = [] }: DependencyInput): readonly ErrorDetail[] {
  if (enabled || variants.length === 0) return [];
  return [{ message: 'must be empty where the parent has to be off', path: '/variants' }];
}

function findPeriodFaults({ bucket }: MetricsReport): readonly ErrorDetail[] {
  const [start = 0, stop = 0] = [parseIsoDate(bucket.start), parseIsoDate(bucket.stop)];
  return stop < start ? [{ message: 'must not be before start', path: '/bucket/stop' }] : [];
}

function findBulkFaults({ reports = [] }: BulkReport): readonly ErrorDetail[] {
  const flags = reports.reduce((sum, { bucket }) => sum + Object.keys(bucket.toggles).length, 0);
  if (flags > LIMITS.metricsPerBatch) {
    return [{ message: `must not count more than ${LIMITS.metricsPerBatch} flags in all`, path: '/reports' }];
  }
  return reports.flatMap((report, index) =>
    findPeriodFaults(report).map(({ message, path }) => ({ message, path: `/reports/${index}${path}` })),
  );
}

/** An admin token is for everything; any other is for one environment. */
function findScopeFaults({ kind, project, environment }: NewToken): readonly ErrorDetail[] {
  if (kind !== 'admin') {
    return environment === undefined || environment === '*'
      ? [{ message: `must name an environment for a ${kind} token`, path: '/environment' }]
      : [];
  }
  return [
    ...(isEverything(project) ? [] : [{ message: 'must be * for an admin token', path: '/project' }]),
    ...(isEverything(environment) ? [] : [{ message: 'must be * for an admin token', path: '/environment' }]),
  ];
}

function isEverything(scope: string | undefined): boolean {
  return scope === undefined || scope === '*';
}
