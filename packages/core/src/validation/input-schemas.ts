import type { Settings } from '../api/engine.js';
import { frozen } from '../frozen.js';
import type { JsonSchema } from './json-schema.js';
import { dependency } from './schemas/dependencies.js';
import { eventQuery } from './schemas/events.js';
import { clone, flagChanges, newFlag } from './schemas/flags.js';
import { jsonPatch } from './schemas/json-patch.js';
import { member } from './schemas/members.js';
import { bulkReport, metricsReport, registration } from './schemas/metrics.js';
import { pageQuery } from './schemas/pages.js';
import { newProject, projectChanges } from './schemas/projects.js';
import { newSegment, segmentChanges } from './schemas/segments.js';
import { constraint, strategy, strategyReplacement } from './schemas/strategies.js';
import { newToken } from './schemas/tokens.js';
import { variant, variants } from './schemas/variants.js';

/** The schema of every input, by what it is the input of. */
export type InputSchemas = ReturnType<typeof inputSchemas>;

/**
 * The JSON Schemas that the operations validate their input by, for documents such as OpenAPI that describe it.
 *
 * @example
 * const { newFlag } = inputSchemas(flags.settings);
 */
export function inputSchemas(settings: Settings) {
  const flagTypes = settings.flagTypes.map((type) => type.name);
  return frozen({
    newFlag: newFlag(flagTypes) as JsonSchema,
    flagChanges: flagChanges(flagTypes) as JsonSchema,
    clone: clone as JsonSchema,
    strategy: strategy as JsonSchema,
    strategyReplacement: strategyReplacement as JsonSchema,
    constraint: constraint as JsonSchema,
    variants,
    variant: variant as JsonSchema,
    jsonPatch,
    newSegment: newSegment as JsonSchema,
    segmentChanges: segmentChanges as JsonSchema,
    dependency: dependency as JsonSchema,
    member: member as JsonSchema,
    newProject: newProject as JsonSchema,
    projectChanges: projectChanges as JsonSchema,
    registration: registration as JsonSchema,
    metricsReport: metricsReport as JsonSchema,
    bulkReport: bulkReport as JsonSchema,
    newToken: newToken as JsonSchema,
    eventQuery: eventQuery as JsonSchema,
    pageQuery: pageQuery as JsonSchema,
  });
}
