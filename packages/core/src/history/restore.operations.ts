import type { Engine } from '../changes/engine.js';
import type { WorkingCopy } from '../changes/working-copy.js';
import { FlagsError, locateRefusals } from '../errors.js';
import { assertAffordable } from '../flags/affordable.js';
import { applyToFlag, assertSegmentsMovable, assertSegmentsUsable } from '../flags/change-flag.js';
import { assertCanDepend } from '../flags/dependencies.decide.js';
import { listChildren, listLiveChildren } from '../flags/dependencies.operations.js';
import { dependenciesOf, type FlagEvent, type FlagState, segmentsOf } from '../flags/flag.js';
import { findProject, flagDocuments } from '../flags/flag-documents.js';
import { assertNoChildren } from '../flags/lifecycle.decide.js';
import { deleteProject, type ProjectState, projectDocuments } from '../projects/project.js';
import { deleteSegment, restoreRegistry, type SegmentState, segmentDocuments } from '../segments/segment.js';
import { changeRegistry, listUses } from '../segments/segment.operations.js';
import { timeSlice } from '../time-slice.js';
import { isSharedWith, tokenDocuments } from '../tokens/token.js';
import { listStoredTokens } from '../tokens/token.operations.js';
import { restoreFlag, restoreProject, restoreSegment } from './restore.decide.js';

/** A document and the state to restore; undefined: no document. */
export interface Restoration<State> {
  readonly id: string;
  readonly target: State | undefined;
  /** Its place in the input, for refusals. */
  readonly path?: string | undefined;
}

/** All documents of a restoration, in the order of their parents before children. */
export interface Restorations {
  readonly projects: readonly Restoration<ProjectState>[];
  readonly segments: readonly Restoration<SegmentState>[];
  readonly flags: readonly Restoration<FlagState>[];
}

/**
 * Brings documents to given states: ids, creation times and switches included. Creates parents first and deletes them last,
 * then checks the rules that several documents share, on the state that all of them leave.
 *
 * @throws FlagsError as the single operations: for missing references, taken names, and documents that others need
 */
export async function restoreDocuments(
  engine: Engine,
  copy: WorkingCopy,
  { projects, segments, flags }: Restorations,
): Promise<void> {
  const events = new Map<string, readonly FlagEvent[]>();
  const earlier = new Map<string, SegmentState | undefined>();
  for (const { id } of segments) earlier.set(id, (await copy.read(segmentDocuments, id))?.state);
  for (const { id, target } of projects) if (target) await applyToProject(copy, id, target);
  for (const { id, target } of segments) if (target) await applyToSegment(copy, id, target);
  for (const { id, target, path } of flags) {
    const found = await copy.read(flagDocuments, id);
    const own = restoreFlag(found?.state, target);
    events.set(id, own);
    if (found && target) {
      const { state: flag } = found;
      await locateRefusals(path, () => assertStrategies(engine, copy, { flag, events: own }));
    }
    await applyToFlag(copy, id, own);
    if (timeSlice.isOver()) await timeSlice.next();
  }
  for (const { id, target } of segments) if (!target) await applyToSegment(copy, id, undefined);
  await restoreNames(copy, segments, earlier);
  for (const { id, target, path } of flags) {
    if (events.get(id)?.length) {
      await locateRefusals(path, () => assertReferences(copy, id, target));
      if (target && !target.archived) await assertDependencies(copy, target, path);
    }
    if (timeSlice.isOver()) await timeSlice.next();
  }
  for (const { id, target, path } of segments) {
    if (target) await locateRefusals(path, () => assertSegment(copy, target, earlier.get(id)));
  }
  for (const { id, target } of projects) if (!target) await applyToProject(copy, id, undefined);
}

/** Deleting requires that nothing belongs to the project any more. */
async function applyToProject(copy: WorkingCopy, id: string, target: ProjectState | undefined): Promise<void> {
  const found = await copy.read(projectDocuments, id);
  if (found && !target) await assertEmpty(copy, found.state);
  await copy.apply(projectDocuments, id, restoreProject(found?.state, target));
}

async function assertEmpty(copy: WorkingCopy, project: ProjectState): Promise<void> {
  const shared = (await listStoredTokens(copy)).filter((token) => isSharedWith(token, project.id));
  deleteProject(project, 0, shared.length);
  for (const { kind } of [flagDocuments, segmentDocuments, tokenDocuments]) {
    const listed = await copy.list({ kind, parent: project.id, part: 'summary', limit: 1 });
    if (listed.length > 0) {
      const message = `The project ${project.id} has a ${kind} now, ${listed[0]?.key.id}; delete or move it first.`;
      throw new FlagsError('project_not_empty', message);
    }
    copy.requireVacant({ kind, parent: project.id });
  }
}

async function applyToSegment(copy: WorkingCopy, id: string, target: SegmentState | undefined): Promise<void> {
  const found = await copy.read(segmentDocuments, id);
  if (found && !target) deleteSegment(found.state, (await listUses(copy.unchecked, found.state.id)).length);
  await copy.apply(segmentDocuments, id, restoreSegment(found?.state, target));
}

/** Releases all names before it takes any, because two segments may exchange theirs. */
async function restoreNames(
  copy: WorkingCopy,
  segments: Restorations['segments'],
  earlier: ReadonlyMap<string, SegmentState | undefined>,
): Promise<void> {
  const released: string[] = [];
  const taken: { readonly id: number; readonly name: string }[] = [];
  for (const { id, target } of segments) {
    const name = earlier.get(id)?.name;
    if (name === target?.name) continue;
    if (name !== undefined) released.push(name);
    if (target) taken.push(target);
  }
  if (released.length + taken.length > 0)
    await changeRegistry(copy, (all) => restoreRegistry(all, { released, taken }));
}

/** A segment of a project is used by flags of that project only. */
async function assertSegment(
  copy: WorkingCopy,
  { id, project }: SegmentState,
  earlier: SegmentState | undefined,
): Promise<void> {
  if (project === undefined) return;
  await findProject(copy.read, { project });
  // The other flags of the set have been checked. Those beside it cannot use a new segment.
  if (!earlier || earlier.project === project) return;
  const others = (await listUses(copy.unchecked, id)).filter((use) => use.project !== project);
  if (others.length === 0) return;
  const message = `The segment ${id} is used by strategies of other projects; take it out of them first.`;
  throw new FlagsError('segment_in_use', message);
}

interface StrategyRestoration {
  readonly flag: FlagState;
  readonly events: readonly FlagEvent[];
}

/** Refuses strategies that use segments of other projects, and those that take too long. */
export async function assertStrategies(
  engine: Engine,
  copy: WorkingCopy,
  { flag, events }: StrategyRestoration,
): Promise<void> {
  await assertSegmentsUsable(copy.read, { project: flag.project, events });
  const environments = new Set(events.flatMap(({ environment }) => environment ?? []));
  for (const environment of environments) assertAffordable(engine, { copy, flag, events, environment });
}

async function assertReferences(copy: WorkingCopy, name: string, target: FlagState | undefined): Promise<void> {
  if (!target || target.archived) {
    assertNoChildren(name, await listLiveChildren(copy, name));
    if (!target) return;
  }
  await findProject(copy.read, target);
  await assertSegmentsExist(copy, target);
  await assertSegmentsMovable(copy.read, target, target.project);
  await assertChildrenInProject(copy, target);
}

/** In the archive, a flag may keep dependencies on flags that are gone. */
async function assertDependencies(copy: WorkingCopy, child: FlagState, path: string | undefined): Promise<void> {
  const children = await listChildren(copy, child.name);
  for (const [index, dependency] of dependenciesOf(child).entries()) {
    const parent = (await copy.read(flagDocuments, dependency.flag))?.state;
    const place = path === undefined ? undefined : `${path}/dependencies/${index}`;
    await locateRefusals(place, () => assertCanDepend(child, dependency, { parent, children }));
  }
}

/** Dependencies stay within a project. */
async function assertChildrenInProject(copy: WorkingCopy, { name, project }: FlagState): Promise<void> {
  const children = await listLiveChildren(copy, name);
  const found = await Promise.all(children.map((child) => copy.read(flagDocuments, child)));
  assertNoChildren(
    name,
    children.filter((_, index) => found[index]?.state.project !== project),
  );
}

async function assertSegmentsExist(copy: WorkingCopy, flag: FlagState): Promise<void> {
  for (const id of segmentsOf(flag)) {
    if (await copy.read(segmentDocuments, `${id}`)) continue;
    const message = `The flag ${flag.name} would use the segment ${id}, which does not exist any more.`;
    throw new FlagsError('segment_not_found', message);
  }
}
