import { dependenciesOf, type FlagState } from '../flags/flag.js';
import type { ProjectState } from '../projects/project.js';
import type { SegmentState } from '../segments/segment.js';

/** A document that an import changes. Undefined: there is none yet. */
export type Planned =
  | { readonly kind: 'project'; readonly current: ProjectState | undefined; readonly target: ProjectState }
  | { readonly kind: 'segment'; readonly current: SegmentState | undefined; readonly target: SegmentState }
  | { readonly kind: 'flag'; readonly current: FlagState | undefined; readonly target: FlagState };

/**
 * How far a step takes a document. `detach` ends the dependencies of a flag that would be in the way of other flags, and
 * `widen` opens a segment to all projects until its flags have moved.
 */
export type Extent = 'whole' | 'detach' | 'widen';

export interface Step<Item> {
  readonly item: Item;
  readonly extent: Extent;
}

interface Sized {
  readonly planned: Planned;
  /** Bytes of the document and its events. */
  readonly bytes: number;
}

export interface SetLimits {
  readonly documents: number;
  readonly bytes: number;
}

/** Divides the changes of an import into change sets. Each set leaves every reference valid. */
export function toSets<Item extends Sized>(
  items: readonly Item[],
  limits: SetLimits,
): readonly (readonly Step<Item>[])[] {
  const whole = items.map((item): Step<Item> => ({ item, extent: 'whole' }));
  if (whole.length === 0) return [];
  if (fits(whole, limits)) return [whole];
  return toPhases(items).flatMap((phase) => divide(phase, limits));
}

function fits(steps: readonly Step<Sized>[], limits: SetLimits): boolean {
  return steps.length <= limits.documents && steps.reduce((sum, { item }) => sum + item.bytes, 0) <= limits.bytes;
}

/** A step that is alone in its set may exceed the bytes. */
function divide<Item extends Sized>(steps: readonly Step<Item>[], limits: SetLimits): Step<Item>[][] {
  const sets: Step<Item>[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const step of steps) {
    const set = sets.at(-1);
    bytes += step.item.bytes;
    if (set && set.length < limits.documents && bytes <= limits.bytes) {
      set.push(step);
    } else {
      sets.push([step]);
      bytes = step.item.bytes;
    }
  }
  return sets;
}

/** No document is twice in a phase. */
function toPhases<Item extends Sized>(items: readonly Item[]): readonly (readonly Step<Item>[])[] {
  const select = (isSelected: (planned: Planned) => boolean, extent: Extent = 'whole') =>
    items.filter(({ planned }) => isSelected(planned)).map((item): Step<Item> => ({ item, extent }));
  const isFlag = (rank: number) => (planned: Planned) => planned.kind === 'flag' && rankOf(planned) === rank;
  return [
    [
      ...select(({ kind }) => kind === 'project'),
      ...select((one) => one.kind === 'segment' && !isNarrowed(one)),
      ...select(isNarrowed, 'widen'),
    ],
    select(isDetached, 'detach'),
    RANKS.flatMap((rank) => select(isFlag(rank))),
    select(isNarrowed),
  ];
}

const RANKS = [0, 1, 2, 3];

/** Parents come before children, except in the archive, which requires that a flag has no live children. */
function rankOf({ current, target }: { readonly current: FlagState | undefined; readonly target: FlagState }): number {
  const isChild = dependenciesOf(target).length > 0 || (current !== undefined && dependenciesOf(current).length > 0);
  if (target.archived && !current?.archived) return isChild ? 2 : 3;
  return dependenciesOf(target).length > 0 ? 1 : 0;
}

/** Whether the segment gets a project while flags of others may still use it. */
function isNarrowed(planned: Planned): boolean {
  if (planned.kind !== 'segment' || !planned.current) return false;
  return planned.target.project !== undefined && planned.target.project !== planned.current.project;
}

function isDetached({ kind, current, target }: Planned): boolean {
  if (kind !== 'flag' || !current || current.archived) return false;
  return dependenciesOf(current).length > dependenciesOf(detach(current, target)).length;
}

/** Returns the current state without the dependencies that end, or that a move to another project interrupts. */
export function detach(current: FlagState, target: FlagState): FlagState {
  const kept = new Set(current.project === target.project ? dependenciesOf(target).map(({ flag }) => flag) : []);
  return { ...current, dependencies: dependenciesOf(current).filter(({ flag }) => kept.has(flag)) };
}

/** Returns the target, as a segment of all projects. */
export function widen({ project: _project, ...target }: SegmentState): SegmentState {
  return target;
}
