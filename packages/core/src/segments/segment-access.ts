import type { Read } from '../changes/documents.js';
import type { ChangeContext } from '../common.types.js';
import { FlagsError } from '../errors.js';
import { type FlagEvent, type FlagState, segmentsOf } from '../flags/flag.js';
import type { Strategy } from '../flags/strategy.types.js';
import { invalidInput } from '../validation/validator.js';
import { segmentDocuments } from './segment.js';

interface FlagChange {
  /** The flag's project. */
  readonly project: string;
  readonly events: readonly FlagEvent[];
  readonly context: Pick<ChangeContext, 'onSegmentUse'>;
  /** Returns the place of a strategy in the input, as a JSON Pointer. Default: the whole input */
  readonly pathOf?: ((strategy: Strategy) => string) | undefined;
}

/**
 * Checks every segment that a strategy starts to use. Refuses segments of other projects, and calls `onSegmentUse`.
 * Segments already in use stay allowed, because release 0.1 allowed every strategy to use them.
 */
export async function assertSegmentsUsable(
  read: Read,
  { project, events, context, pathOf = () => '' }: FlagChange,
): Promise<void> {
  for (const { segment, path } of events.flatMap((event) => segmentsAddedBy(event, pathOf))) {
    const found = await read(segmentDocuments, `${segment}`);
    if (!found) continue;
    const { project: owner = null } = found.state;
    if (owner !== null && owner !== project) throw unusable(segment, path);
    await context.onSegmentUse?.({ segment, project: owner });
  }
}

interface AddedSegment {
  readonly segment: number;
  readonly path: string;
}

function segmentsAddedBy(event: FlagEvent, pathOf: (strategy: Strategy) => string): readonly AddedSegment[] {
  if (event.type !== 'strategy-added' && event.type !== 'strategy-updated') return [];
  const known = new Set(event.before?.segments);
  const added = new Map<number, AddedSegment>();
  for (const [index, segment] of (event.data.segments ?? []).entries()) {
    if (known.has(segment) || added.has(segment)) continue;
    added.set(segment, { segment, path: `${pathOf(event.data)}/segments/${index}` });
  }
  return [...added.values()];
}

/** Refuses to move a flag that uses segments which flags of the other project cannot use. */
export async function assertSegmentsMovable(read: Read, flag: FlagState, project: string): Promise<void> {
  for (const segment of segmentsOf(flag)) {
    const owner = (await read(segmentDocuments, `${segment}`))?.state.project ?? project;
    if (owner === project) continue;
    const message = `The flag ${flag.name} uses the segment ${segment}, which flags of the project ${project} cannot use; take it out of the strategies first.`;
    throw new FlagsError('segment_in_use', message);
  }
}

/** The message does not reveal whether the segment exists, or its project. */
function unusable(segment: number, path: string): Error {
  return invalidInput([{ message: `names the segment ${segment}, which flags of this project cannot use`, path }]);
}
