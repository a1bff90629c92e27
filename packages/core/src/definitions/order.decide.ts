import { FlagsError } from '../errors.js';
import type { FlagState } from '../flags/flag.js';
import type { ProjectState } from '../projects/project.js';
import type { SegmentState } from '../segments/segment.js';

/** A document that an import changes. `current` is undefined for a new one. */
export type Planned =
  | { readonly kind: 'project'; readonly current: ProjectState | undefined; readonly target: ProjectState }
  | { readonly kind: 'segment'; readonly current: SegmentState | undefined; readonly target: SegmentState }
  | { readonly kind: 'flag'; readonly current: FlagState | undefined; readonly target: FlagState };

interface Placed {
  readonly planned: Planned;
  /** The place in the document, for refusals. */
  readonly path: string;
  /** Bytes of the document and its events. */
  readonly bytes: number;
}

export interface SetLimits {
  readonly documents: number;
  readonly bytes: number;
}

/**
 * Divides the changes of an import into change sets. Each set leaves every reference valid.
 *
 * @throws FlagsError `parent_not_found` or `segment_in_use` if the document needs two imports
 */
export function toSets<Item extends Placed>(items: readonly Item[], limits: SetLimits): Item[][] {
  const isOneSet = divide(items, limits).length <= 1;
  if (!isOneSet) assertOneImport(items);
  const ordered = isOneSet ? items : [...items].sort((one, other) => rankOf(one.planned) - rankOf(other.planned));
  return divide(ordered, limits);
}

/** Divides items by the limits. A set of one item may exceed the bytes. */
function divide<Item extends Placed>(items: readonly Item[], limits: SetLimits): Item[][] {
  const sets: Item[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const item of items) {
    const set = sets.at(-1);
    bytes += item.bytes;
    if (set && set.length < limits.documents && bytes <= limits.bytes) {
      set.push(item);
    } else {
      sets.push([item]);
      bytes = item.bytes;
    }
  }
  return sets;
}

/**
 * The order of the sets. A parent must not have parents, and must be in the project of its children. So flags lose
 * their parents first, and get them last. The archive requires that a flag has no live children.
 */
const RANKS = ['project', 'segment', 'child no more', 'no child', 'still a child', 'new child', 'archived', 'narrowed'];

function rankOf(planned: Planned): number {
  return RANKS.indexOf(planned.kind === 'flag' ? rankOfFlag(planned) : isNarrowed(planned) ? 'narrowed' : planned.kind);
}

function rankOfFlag({ current, target }: Planned & { readonly kind: 'flag' }): string {
  const isArchived = target.archived && !current?.archived;
  const isChild = target.dependencies.length > 0;
  if (current && current.dependencies.length > 0) return isChild && !isArchived ? 'still a child' : 'child no more';
  if (isArchived) return 'archived';
  return isChild ? 'new child' : 'no child';
}

/** Whether the segment gets a project while flags of other projects may still use it. */
function isNarrowed({ kind, current, target }: Planned): boolean {
  return (
    kind === 'segment' && current !== undefined && target.project !== undefined && target.project !== current.project
  );
}

/** Refuses to move a flag with its parents, and a segment with its flags: these may be in different sets. */
function assertOneImport(items: readonly Placed[]): void {
  for (const { planned, path } of items) {
    const { kind, current, target } = planned;
    if (kind === 'project' || !current?.project || !target.project || current.project === target.project) continue;
    if (kind === 'flag' && rankOfFlag(planned) !== 'still a child') continue;
    const without = kind === 'flag' ? 'dependencies' : 'a project';
    const message = `The ${kind} ${target.name} moves from the project ${current.project} to ${target.project}. A document of this size needs two imports for that: first import the ${kind} without ${without}, then this document.`;
    throw new FlagsError(kind === 'flag' ? 'parent_not_found' : 'segment_in_use', message, [{ message, path }]);
  }
}
