import type { SegmentDefinition } from '../api/definitions.js';
import type { FlagConfiguration, SegmentConfiguration } from '../api/evaluation.js';
import { type FlagState, orderedEnvironmentOf } from '../domain/flag.js';
import type { SegmentState } from '../domain/segment.js';

/** A flag as it is in one environment. */
export function toConfiguration(flag: FlagState, environment: string): FlagConfiguration {
  const { name, project, type, description, stale, impressionData, variants, dependencies = [] } = flag;
  const { enabled, strategies } = orderedEnvironmentOf(flag, environment);
  return {
    name,
    project,
    type,
    description,
    stale,
    impressionData,
    enabled,
    strategies,
    variants,
    dependencies: dependencies.map((one) => ({ feature: one.flag, enabled: one.enabled, variants: one.variants })),
  };
}

export function toSegmentConfiguration({ id, name, constraints }: SegmentState): SegmentConfiguration {
  return { id, name, constraints };
}

export function toSegmentDefinition({ id, constraints }: SegmentState): SegmentDefinition {
  return { id, constraints };
}
