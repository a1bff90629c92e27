import { eventQuery } from './events/event.schema.js';
import { clone, dependency, flagChanges, flagQuery, labelChanges, move, newFlag, parent } from './flags/flag.schema.js';
import { constraint, environment, strategy, strategyReplacement } from './flags/strategies.schema.js';
import { variant, variants } from './flags/variants.schema.js';
import type { Settings } from './flags.js';
import { bulkReport, metricsReport, registration, usageFilter } from './metrics/metrics.schema.js';
import { member, newProject, projectChanges } from './projects/project.schema.js';
import { newSegment, segmentChanges } from './segments/segment.schema.js';
import { newToken, tokenRotation } from './tokens/token.schema.js';
import { deepFreeze } from './validation/json.js';
import { jsonPatch } from './validation/json-patch.js';
import { type JsonSchema, pageQuery } from './validation/primitives.js';

/** The JSON Schema of every input, by the input's name. */
export type InputSchemas = ReturnType<typeof inputSchemas>;

/**
 * Returns the JSON Schemas that operations validate their input with, for documents such as OpenAPI.
 *
 * @example
 * const { newFlag } = inputSchemas(flags.settings);
 */
export function inputSchemas(settings: Settings) {
  const flagTypes = settings.flagTypes.map((type) => type.name);
  return deepFreeze({
    newFlag: newFlag(flagTypes) as JsonSchema,
    flagChanges: flagChanges(flagTypes) as JsonSchema,
    labelChanges: labelChanges as JsonSchema,
    clone: clone as JsonSchema,
    move: move as JsonSchema,
    strategy: strategy as JsonSchema,
    strategyReplacement: strategyReplacement as JsonSchema,
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
    tokenRotation: tokenRotation as JsonSchema,
    flagQuery: flagQuery as JsonSchema,
    eventQuery: eventQuery as JsonSchema,
    pageQuery: pageQuery as JsonSchema,
  });
}
