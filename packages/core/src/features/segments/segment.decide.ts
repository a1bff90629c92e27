import { FlagsError } from '../../base/errors.js';
import { pickChanged } from '../../base/json.js';
import type { SegmentUse } from '../flags/strategy.types.js';
import type { SegmentContent, SegmentRegistry, SegmentState } from './segment.js';
import type { SegmentEvent } from './segment.kind.js';
import type { NewSegment, SegmentChanges } from './segment.types.js';

/** Values of a new segment that the caller generates. */
interface SegmentOrigin {
  readonly id: number;
  readonly createdAt: string;
  readonly createdBy: string;
}

export function createSegment(
  { name, description = '', constraints, project }: NewSegment,
  origin: SegmentOrigin,
): SegmentEvent[] {
  const { id, createdAt, createdBy } = origin;
  const content = { id, name, description, constraints, ...withProject(project) };
  return [{ type: 'segment-created', data: { ...content, createdAt, createdBy }, before: null }];
}

/**
 * Updates a segment.
 *
 * @param uses the strategies that use the segment; needed only if the project changes
 */
export function updateSegment(
  segment: SegmentState,
  changes: SegmentChanges,
  uses: readonly SegmentUse[],
): SegmentEvent[] {
  const { project: from, ...kept } = segment;
  const { project: to = from ?? null } = changes;
  if (movesAway(segment, changes) && uses.some(({ project }) => project !== to)) {
    const message = `The segment ${segment.id} is used by strategies of other projects; remove it from them first.`;
    throw new FlagsError('segment_in_use', message);
  }
  const { project: _project, ...content } = changes;
  const changed = pickChanged<SegmentContent>(segment, content, ['name', 'description', 'constraints']);
  if (!changed && to === (from ?? null)) return [];
  return [{ type: 'segment-updated', data: { ...kept, ...changed?.data, ...withProject(to) }, before: segment }];
}

/** Whether a change assigns the segment to another project. */
export function movesAway({ project: from }: SegmentState, { project: to }: SegmentChanges): boolean {
  return (to ?? from) !== from;
}

/**
 * Deletes a segment.
 *
 * @param useCount the number of strategies that use it. The error does not name them, because the caller may not see
 * them.
 */
export function deleteSegment(segment: SegmentState, useCount: number): SegmentEvent[] {
  if (useCount > 0) {
    const strategies = useCount === 1 ? 'a strategy' : `${useCount} strategies`;
    const message = `The segment ${segment.id} is used by ${strategies}; list its uses, and remove it from them first.`;
    throw new FlagsError('segment_in_use', message);
  }
  return [{ type: 'segment-deleted', data: null, before: segment }];
}

function withProject(project: string | null | undefined): Pick<SegmentContent, 'project'> {
  return project ? { project } : {};
}

export function registerSegment(
  registry: SegmentRegistry,
  { id, name }: { id: number; name: string },
): SegmentRegistry {
  return { lastId: Math.max(registry.lastId, id), names: withName(registry.names, name) };
}

export function renameSegment({ lastId, names }: SegmentRegistry, from: string, to: string): SegmentRegistry {
  return { lastId, names: withName(withoutName(names, from), to) };
}

export function unregisterSegment({ lastId, names }: SegmentRegistry, name: string): SegmentRegistry {
  return { lastId, names: withoutName(names, name) };
}

/** Releases names, then takes others. Restored segments may have lower ids than the last one. */
export function restoreRegistry(
  { lastId, names }: SegmentRegistry,
  {
    released,
    taken,
  }: { readonly released: readonly string[]; readonly taken: readonly { id: number; name: string }[] },
): SegmentRegistry {
  const kept = released.reduce<readonly string[]>(withoutName, names);
  return {
    lastId: Math.max(lastId, ...taken.map(({ id }) => id)),
    names: taken.reduce((all, { name }) => withName(all, name), kept),
  };
}

function withName(names: readonly string[], name: string): readonly string[] {
  if (names.includes(name)) {
    throw new FlagsError('segment_exists', `The segment name ${name} is taken; choose another.`);
  }
  return [...names, name];
}

function withoutName(names: readonly string[], name: string): readonly string[] {
  return names.filter((other) => other !== name);
}
