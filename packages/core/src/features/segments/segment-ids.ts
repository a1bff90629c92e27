import { FlagsError } from '../../base/errors.js';
import { LIMITS } from '../../base/limits.js';
import { pause } from '../../base/paced.js';
import type { FlagsStorage } from '../../storage/port.js';

const EVENTS_PER_READ = 1000;

interface SegmentIdRequest {
  readonly count: number;
  /** The highest id that a segment has ever had. */
  readonly lastId: number;
  /** Other ids that are in use, or were in use before in the same change set. */
  readonly taken: ReadonlySet<number>;
}

/**
 * Returns ids for new segments: those after the highest one that a segment has ever had. Beyond the limit, the lowest
 * ones that no segment has ever had.
 *
 * @throws FlagsError `segment_exists` if no id is left
 */
export async function newSegmentIds(
  storage: Pick<FlagsStorage, 'events'>,
  { count, lastId, taken }: SegmentIdRequest,
): Promise<readonly number[]> {
  const above = unusedFrom(lastId + 1, count, taken);
  if (above.length === count) return above;
  const used = new Set([...taken, ...above, ...(await readUsedIds(storage))]);
  const ids = [...above, ...unusedFrom(1, count - above.length, used)];
  if (ids.length === count) return ids;
  const message = `Every id of a segment up to ${LIMITS.segmentId} has been used, and ids are never used again; change a segment that you do not need.`;
  throw new FlagsError('segment_exists', message);
}

/** Ends after `count` ids, those in use, or the limit. */
function unusedFrom(first: number, count: number, used: ReadonlySet<number>): readonly number[] {
  const ids: number[] = [];
  for (let id = first; ids.length < count && id <= LIMITS.segmentId; id += 1) if (!used.has(id)) ids.push(id);
  return ids;
}

/** Reads the ids of all segments that have ever been created. Newest first: a feed would omit events not settled yet. */
async function readUsedIds(storage: Pick<FlagsStorage, 'events'>): Promise<readonly number[]> {
  const ids: number[] = [];
  for (let offset = 0; ; offset += EVENTS_PER_READ) {
    const { events } = await storage.events({
      order: 'newest-first',
      filter: { type: 'segment-created' },
      limit: EVENTS_PER_READ,
      offset,
      withoutData: true,
    });
    for (const { subject } of events) ids.push(Number(subject.id));
    if (events.length < EVENTS_PER_READ) return ids;
    await pause();
  }
}
