import { FlagsError } from '../../base/errors.js';
import { isSameJson } from '../../base/json.js';
import { locateRefusals } from '../../base/validator.js';
import type { UnitOfWork } from '../../kernel/engine.js';
import { mergeVersions } from '../../kernel/kind.js';
import type { RestoredDocument, Restorer } from '../../kernel/restorer.js';
import { findProject } from '../flags/flag.kind.js';
import { deleteSegment, restoreRegistry } from './segment.decide.js';
import type { SegmentState } from './segment.js';
import { type SegmentEvent, segmentDocuments } from './segment.kind.js';
import { changeRegistry, listUses } from './segment.operations.js';

export const segmentRestorer: Restorer<SegmentState, SegmentEvent> = {
  eventsBetween: restoreSegment,
  merge: (versions) => mergeVersions(versions, (path) => path === '/constraints'),
  async restore(unit, { id, before, target }) {
    if (before && !target) deleteSegment(before, (await listUses(unit.unchecked, before.id)).length);
    const events = restoreSegment(before, target);
    await unit.apply(segmentDocuments, id, events);
    return events.length > 0;
  },
  updateIndex: restoreNames,
  check: (unit, { before, target, path }) =>
    target ? locateRefusals(path, () => assertUsable(unit, target, before)) : Promise.resolve(),
};

/** Releases all names before it takes any, because two segments may exchange theirs. */
async function restoreNames(unit: UnitOfWork, segments: readonly RestoredDocument<SegmentState>[]): Promise<void> {
  const renamed = segments.filter(({ before, target }) => before?.name !== target?.name);
  const released = renamed.flatMap(({ before }) => before?.name ?? []);
  const taken = renamed.flatMap(({ target }) => target ?? []);
  if (renamed.length > 0) await changeRegistry(unit, (all) => restoreRegistry(all, { released, taken }));
}

/** Refuses a segment of one project that flags of another project use. */
async function assertUsable(
  unit: UnitOfWork,
  { id, project }: SegmentState,
  before: SegmentState | undefined,
): Promise<void> {
  if (project === undefined) return;
  await findProject(unit.read, { project });
  // The flags of the set are checked already. No other flag can use a new segment.
  if (!before || before.project === project) return;
  const others = (await listUses(unit.unchecked, id)).filter((use) => use.project !== project);
  if (others.length === 0) return;
  const message = `The segment ${id} is used by strategies of other projects; remove it from them first.`;
  throw new FlagsError('segment_in_use', message);
}

/** Returns the events that bring a segment to another state. */
function restoreSegment(now: SegmentState | undefined, target: SegmentState | undefined): SegmentEvent[] {
  if (isSameJson(now, target)) return [];
  if (!target) return now ? [{ type: 'segment-deleted', data: null, before: now }] : [];
  return now
    ? [{ type: 'segment-updated', data: target, before: now }]
    : [{ type: 'segment-created', data: target, before: null }];
}
