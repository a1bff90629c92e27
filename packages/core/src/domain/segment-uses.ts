import type { SegmentUse } from '../api/segments.js';
import type { FlagState } from './flag.js';

/** The ids of the segments that a flag's strategies use in any environment, each once. */
export function segmentsOf(flag: FlagState): readonly number[] {
  const strategies = flag.environments.flatMap((environment) => environment.strategies);
  return [...new Set(strategies.flatMap(({ segments = [] }) => segments))];
}

/** The strategies of a flag that use a segment. */
export function usesOfSegment(flag: FlagState, segment: number): readonly SegmentUse[] {
  return flag.environments.flatMap(({ name, strategies }) =>
    strategies
      .filter(({ segments = [] }) => segments.includes(segment))
      .map(({ id }) => ({ project: flag.project, flag: flag.name, environment: name, strategy: id })),
  );
}
