import { FlagsError } from '../../base/errors.js';
import { locateRefusals } from '../../base/validator.js';
import type { UnitOfWork } from '../../kernel/engine.js';
import type { Restored, Restorer } from '../../kernel/restorer.js';
import { applyToFlag, assertSegmentsMovable, assertSegmentsUsable } from './change-flag.js';
import { assertCanDepend } from './dependencies.decide.js';
import { listChildren, listLiveChildren } from './dependencies.operations.js';
import { type FlagEvent, type FlagState, segmentsOf } from './flag.js';
import { flagDocuments, mergeFlag, restoreFlag } from './flag.kind.js';
import { assertNoChildren } from './lifecycle.decide.js';
import { findProject, referredSegments } from './references.js';

export const flagRestorer: Restorer<FlagState, FlagEvent> = {
  eventsBetween: restoreFlag,
  merge: mergeFlag,
  async restore(unit, { id, before, target, path }) {
    const events = restoreFlag(before, target);
    if (before && target) {
      const { project } = before;
      await locateRefusals(path, () => assertSegmentsUsable(unit.read, { project, events }));
    }
    await applyToFlag(unit, { name: id, before }, events);
    return events.length > 0;
  },
  async check(unit, document) {
    const { id, target, path } = document;
    await locateRefusals(path, () => assertReferences(unit, id, target));
    if (target && !target.archived) await assertDependencies(unit, target, document);
  },
};

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

/**
 * Only for live flags: an archived flag may depend on deleted flags, and on flags that have dependencies. A revival
 * removes what is not possible, so archived children do not forbid a dependency that the flag has already.
 */
async function assertDependencies(
  unit: UnitOfWork,
  child: FlagState,
  { before, path }: Restored<FlagState>,
): Promise<void> {
  if (child.dependencies.length === 0) return;
  const [children, liveChildren] = [await listChildren(unit, child.name), await listLiveChildren(unit, child.name)];
  for (const [index, dependency] of child.dependencies.entries()) {
    const isNew = before?.archived === false && !before.dependencies.some(({ flag }) => flag === dependency.flag);
    const parent = (await unit.read(flagDocuments, dependency.flag))?.state;
    const place = path === undefined ? undefined : `${path}/dependencies/${index}`;
    const relatives = { parent, children: isNew ? children : liveChildren };
    await locateRefusals(place, () => assertCanDepend(child, dependency, relatives));
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
    if (await unit.read(referredSegments, `${id}`)) continue;
    const message = `The flag ${flag.name} would use the segment ${id}, which no longer exists.`;
    throw new FlagsError('segment_not_found', message);
  }
}
