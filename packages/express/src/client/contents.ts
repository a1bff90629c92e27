import type { Configuration, FlagConfiguration, SegmentConfiguration } from '@flags/core';
import { strategiesInUse } from '../wire/client-flag.js';
import { isInView, type View } from './view.js';

/** What there is to see in a view: its flags, and the segments that they use. */
export interface Contents {
  readonly flags: readonly FlagConfiguration[];
  readonly segments: readonly SegmentConfiguration[];
}

export function contentsOf(configuration: Configuration, view: View): Contents {
  const flags = configuration.flags.filter((flag) => isInView(flag, view));
  return { flags, segments: segmentsUsedBy(configuration, flags) };
}

/** By id. */
export function segmentsUsedBy(
  { segments }: Configuration,
  flags: readonly FlagConfiguration[],
): readonly SegmentConfiguration[] {
  const used = new Set<number>();
  for (const flag of flags) {
    for (const strategy of strategiesInUse(flag)) for (const id of strategy.segments ?? []) used.add(id);
  }
  return used.size === 0 ? [] : segments.filter(({ id }) => used.has(id));
}
