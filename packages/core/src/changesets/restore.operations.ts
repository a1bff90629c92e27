import { paced } from '../base/paced.js';
import type { UnitOfWork } from '../engine.js';
import { FlagsError, locateRefusals } from '../errors.js';
import { applyToFlag, assertSegmentsMovable, assertSegmentsUsable } from '../flags/change-flag.js';
import { assertCanDepend } from '../flags/dependencies.decide.js';
import { listChildren, listLiveChildren } from '../flags/dependencies.operations.js';
import { type FlagEvent, type FlagState, flagDocuments, segmentsOf } from '../flags/flag.js';
import { assertNoChildren } from '../flags/lifecycle.decide.js';
import { deleteProject, findProject, type ProjectState, projectDocuments } from '../projects/project.js';
import { deleteSegment, restoreRegistry, type SegmentState, segmentDocuments } from '../segments/segment.js';
import { changeRegistry, listUses } from '../segments/segment.operations.js';
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

/** All documents of a restoration, parents before children. */
export interface Restorations {
  readonly projects: readonly Restoration<ProjectState>[];
  readonly segments: readonly Restoration<SegmentState>[];
  readonly flags: readonly Restoration<FlagState>[];
}

/**
 * Restores documents to given states, including ids, creation times and switches. Creates parents first and deletes
 * them last. Then checks the rules between documents on the final state.
 *
 * @throws FlagsError as the single operations: for missing references, taken names, and documents that others need
 */
export async function restoreDocuments(unit: UnitOfWork, { projects, segments, flags }: Restorations): Promise<void> {
  const events = new Map<string, readonly FlagEvent[]>();
  const earlier = new Map<string, SegmentState | undefined>();
  for (const { id } of segments) earlier.set(id, (await unit.read(segmentDocuments, id))?.state);
  for (const { id, target } of projects) if (target) await applyToProject(unit, id, target);
  for (const { id, target } of segments) if (target) await applyToSegment(unit, id, target);
  for await (const { id, target, path } of paced(flags)) {
    const found = await unit.read(flagDocuments, id);
    const own = restoreFlag(found?.state, target);
    events.set(id, own);
    if (found && target) {
      const { project } = found.state;
      await locateRefusals(path, () => assertSegmentsUsable(unit.read, { project, events: own }));
    }
    await applyToFlag(unit, id, own);
  }
  for (const { id, target } of segments) if (!target) await applyToSegment(unit, id, undefined);
  await restoreNames(unit, segments, earlier);
  for await (const { id, target, path } of paced(flags)) {
    if (events.get(id)?.length) {
      await locateRefusals(path, () => assertReferences(unit, id, target));
      if (target && !target.archived) await assertDependencies(unit, target, path);
    }
  }
  for (const { id, target, path } of segments) {
    if (target) await locateRefusals(path, () => assertSegment(unit, target, earlier.get(id)));
  }
  for (const { id, target } of projects) if (!target) await applyToProject(unit, id, undefined);
}

/** Refuses to delete a project that still has documents. */
async function applyToProject(unit: UnitOfWork, id: string, target: ProjectState | undefined): Promise<void> {
  const found = await unit.read(projectDocuments, id);
  if (found && !target) await assertEmpty(unit, found.state);
  await unit.apply(projectDocuments, id, restoreProject(found?.state, target));
}

async function assertEmpty(unit: UnitOfWork, project: ProjectState): Promise<void> {
  const shared = (await listStoredTokens(unit)).filter((token) => isSharedWith(token, project.id));
  deleteProject(project, 0, shared.length);
  for (const { kind } of [flagDocuments, segmentDocuments, tokenDocuments]) {
    const listed = await unit.list({ kind, parent: project.id, part: 'summary', limit: 1 });
    if (listed.length > 0) {
      const message = `The project ${project.id} has a ${kind} now, ${listed[0]?.key.id}; delete or move it first.`;
      throw new FlagsError('project_not_empty', message);
    }
    unit.requireVacant({ kind, parent: project.id });
  }
}

async function applyToSegment(unit: UnitOfWork, id: string, target: SegmentState | undefined): Promise<void> {
  const found = await unit.read(segmentDocuments, id);
  if (found && !target) deleteSegment(found.state, (await listUses(unit.unchecked, found.state.id)).length);
  await unit.apply(segmentDocuments, id, restoreSegment(found?.state, target));
}

/** Releases all names before it takes any, because two segments may exchange theirs. */
async function restoreNames(
  unit: UnitOfWork,
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
    await changeRegistry(unit, (all) => restoreRegistry(all, { released, taken }));
}

/** Refuses a segment of one project that flags of another project use. */
async function assertSegment(
  unit: UnitOfWork,
  { id, project }: SegmentState,
  earlier: SegmentState | undefined,
): Promise<void> {
  if (project === undefined) return;
  await findProject(unit.read, { project });
  // The flags of the set are checked already. No other flag can use a new segment.
  if (!earlier || earlier.project === project) return;
  const others = (await listUses(unit.unchecked, id)).filter((use) => use.project !== project);
  if (others.length === 0) return;
  const message = `The segment ${id} is used by strategies of other projects; remove it from them first.`;
  throw new FlagsError('segment_in_use', message);
}

async function assertReferences(unit: UnitOfWork, name: string, target: FlagState | undefined): Promise<void> {
  if (!target || target.archived) {
    assertNoChildren(name, await listLiveChildren(unit, name));
    if (!target) return;
  }
  await findProject(unit.read, target);
  await assertSegmentsExist(unit, target);
  await assertSegmentsMovable(unit.read, target, target.project);
  await assertChildrenInProject(unit, target);
}

/** Only for live flags: an archived flag may depend on deleted flags. */
async function assertDependencies(unit: UnitOfWork, child: FlagState, path: string | undefined): Promise<void> {
  const children = await listChildren(unit, child.name);
  for (const [index, dependency] of child.dependencies.entries()) {
    const parent = (await unit.read(flagDocuments, dependency.flag))?.state;
    const place = path === undefined ? undefined : `${path}/dependencies/${index}`;
    await locateRefusals(place, () => assertCanDepend(child, dependency, { parent, children }));
  }
}

/** Dependencies stay within a project. */
async function assertChildrenInProject(unit: UnitOfWork, { name, project }: FlagState): Promise<void> {
  const children = await listLiveChildren(unit, name);
  const found = await Promise.all(children.map((child) => unit.read(flagDocuments, child)));
  assertNoChildren(
    name,
    children.filter((_, index) => found[index]?.state.project !== project),
  );
}

async function assertSegmentsExist(unit: UnitOfWork, flag: FlagState): Promise<void> {
  for (const id of segmentsOf(flag)) {
    if (await unit.read(segmentDocuments, `${id}`)) continue;
    const message = `The flag ${flag.name} would use the segment ${id}, which no longer exists.`;
    throw new FlagsError('segment_not_found', message);
  }
}
