import type { SegmentUse } from '../api/segments.js';
import type { FlagState } from './flag.js';

/** The ids of the segments that a flag's strategies use in any environment, each once. */
export function segmentsOf(flag: FlagState): readonly number[] {
  const ids = new Set<number>();
  for (const { strategies } of flag.environments) {
    for (const { segments = [] } of strategies) for (const id of segments) ids.add(id);
  }
  return [...ids];
}

/** The strategies of a flag that use a segment. */
export function usesOfSegment(flag: FlagState, segment: number): readonly SegmentUse[] {
  return flag.environments.flatMap(({ name, strategies }) =>
    strategies
      .filter(({ segments = [] }) => segments.includes(segment))
      .map(({ id }) => ({ project: flag.project, flag: flag.name, environment: name, strategy: id })),
  );
}
