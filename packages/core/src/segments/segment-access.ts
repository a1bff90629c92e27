import type { Read } from '../changes/reader.js';
import type { ChangeContext } from '../common.types.js';
import type { FlagEvent } from '../flags/flag.js';
import { invalidInput } from '../validation/validator.js';
import { segmentDocuments } from './segment.js';

interface FlagChange {
  /** The flag's project. */
  readonly project: string;
  readonly events: readonly FlagEvent[];
  readonly context: ChangeContext | undefined;
}

/**
 * Checks every segment that a strategy starts to use. Refuses segments of other projects, and calls `onSegmentUse`.
 * Segments already in use stay allowed, because release 0.1 allowed every strategy to use them.
 */
export async function assertSegmentsUsable(read: Read, { project, events, context }: FlagChange): Promise<void> {
  for (const { segment, path } of events.flatMap(segmentsAddedBy)) {
    const found = await read(segmentDocuments, `${segment}`);
    if (!found) continue;
    const { project: owner = null } = found.state;
    if (owner !== null && owner !== project) throw unusable(segment, path);
    await context?.onSegmentUse?.({ segment, project: owner });
  }
}

interface AddedSegment {
  readonly segment: number;
  readonly path: string;
}

function segmentsAddedBy(event: FlagEvent): readonly AddedSegment[] {
  if (event.type !== 'strategy-added' && event.type !== 'strategy-updated') return [];
  const known = new Set(event.before?.segments);
  const added = new Map<number, AddedSegment>();
  for (const [index, segment] of (event.data.segments ?? []).entries()) {
    if (!known.has(segment) && !added.has(segment)) added.set(segment, { segment, path: `/segments/${index}` });
  }
  return [...added.values()];
}

/** The message does not reveal whether the segment exists, or its project. */
function unusable(segment: number, path: string): Error {
  return invalidInput([{ message: `names the segment ${segment}, which flags of this project cannot use`, path }]);
}
