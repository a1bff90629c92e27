import type { Configuration, FlagConfiguration, SegmentConfiguration } from '@flags/core';
import { strategiesInUse } from '../wire/client-flag.js';
import { isInView, type View } from './view.js';

/** What there is to see in a view: its flags, and the segments that they use. */
export interface Contents {
  readonly flags: readonly FlagConfiguration[];
  readonly segments: readonly SegmentConfiguration[];
}

export function contentsOf({ flags, segments }: Configuration, view: View): Contents {
  const visible = flags.filter((flag) => isInView(flag, view));
  const used = segmentsUsedBy(visible);
  return { flags: visible, segments: segments.filter(({ id }) => used.has(id)) };
}

function segmentsUsedBy(flags: readonly FlagConfiguration[]): ReadonlySet<number> {
  const used = new Set<number>();
  for (const flag of flags) {
    for (const { segments } of strategiesInUse(flag)) for (const id of segments ?? []) used.add(id);
  }
  return used;
}
