import { FlagsError } from '../../base/errors.js';
import { isSameJson } from '../../base/json.js';
import { type Edit, editList } from '../../base/parts.js';
import { locateRefusals } from '../../base/validator.js';
import type { UnitOfWork } from '../../kernel/engine.js';
import { type MergedVersions, mergeVersions, type Versions } from '../../kernel/kind.js';
import type { RestoredDocument, Restorer } from '../../kernel/restorer.js';
import { applyToFlag, assertSegmentsMovable, assertSegmentsUsable } from './change-flag.js';
import { assertCanDepend } from './dependencies.decide.js';
import { listChildren, listLiveChildren } from './dependencies.operations.js';
import type { Dependency } from './dependency.types.js';
import { assertNoChildren, replaceMetadata, reviveFlag } from './flag.decide.js';
import { enabledEnvironments, environmentOf, type FlagState, rolloutOf, rolloutsIn, segmentsOf } from './flag.js';
import { evolveFlag, type FlagEvent, findProject, flagDocuments, referredSegments } from './flag.kind.js';
import type { FlagMembers } from './flag.types.js';
import { pointerTo, type StartedRollout, startedRollouts } from './rollouts.decide.js';
import { replaceEnvironment } from './strategies.decide.js';

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
  { before, path }: RestoredDocument<FlagState>,
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

/**
 * Returns the events that bring a flag to another state, including ids, creation time and switches. An undefined state
 * means that there is no flag. The caller checks the references. Ends rollouts that the target lacks, and starts none.
 */
export function restoreFlag(now: FlagState | undefined, target: FlagState | undefined): FlagEvent[] {
  if (!now || !target || now.createdAt !== target.createdAt) {
    const created: FlagEvent[] = target ? [{ type: 'flag-created', data: withoutRollouts(target), before: null }] : [];
    return now ? [{ type: 'flag-deleted', data: null, before: withoutRollouts(now) }, ...created] : created;
  }
  // Reviving switches the flag off everywhere.
  const revival = target.archived ? [] : reviveFlag(now);
  const flag = revival.reduce<FlagState | undefined>(evolveFlag, now) ?? now;
  return [
    ...endRollouts(now, target),
    ...revival,
    ...replaceMetadata(flag, target),
    ...Object.values(RESTORE_PART).flatMap((restore) => restore(flag, target)),
  ];
}

/** The parts of a flag that events change, without its metadata. `archived` restores `archivedAt`, too. */
type RestoredPart = Exclude<keyof FlagState, keyof FlagMembers | 'name' | 'createdAt' | 'archivedAt'>;

/** Returns the events that bring a part to that of another state. They are in this order. */
const RESTORE_PART: Readonly<Record<RestoredPart, (flag: FlagState, target: FlagState) => readonly FlagEvent[]>> = {
  variants: restoreVariants,
  dependencies: (flag, target) => editList(flag.dependencies, target.dependencies).map(toDependencyEvent),
  environments: restoreEnvironments,
  // The segments and parents above belong to the project that the flag moves to.
  project: restoreProjectOf,
  archived: restoreArchive,
};

function restoreEnvironments(flag: FlagState, target: FlagState): readonly FlagEvent[] {
  const names = new Set([...target.environments, ...flag.environments].map(({ name }) => name));
  return [...names].flatMap((name) => replaceEnvironment(environmentOf(flag, name), environmentOf(target, name)));
}

function restoreVariants({ variants: before }: FlagState, { variants }: FlagState): readonly FlagEvent[] {
  if (isSameJson(before, variants)) return [];
  return [{ type: 'variants-updated', data: { variants }, before: { variants: before } }];
}

function toDependencyEvent({ before, after }: Edit<Dependency>): FlagEvent {
  if (!after) return { type: 'dependency-removed', data: null, before };
  if (!before) return { type: 'dependency-added', data: after, before: null };
  return { type: 'dependency-updated', data: after, before };
}

function restoreProjectOf({ project: from }: FlagState, { project }: FlagState): readonly FlagEvent[] {
  return from === project ? [] : [{ type: 'flag-moved', data: { project }, before: { project: from } }];
}

function restoreArchive(flag: FlagState, target: FlagState): readonly FlagEvent[] {
  const { archivedAt } = target;
  if (archivedAt === undefined || (flag.archived && flag.archivedAt === archivedAt)) return [];
  const enabledIn = enabledEnvironments(target);
  const data = { archived: true, enabledIn, archivedAt };
  return [{ type: 'flag-archived', data, before: { archived: flag.archived, enabledIn } }];
}

/** The parts that an undo restores as a whole. */
const WHOLE = /^\/(variants|dependencies|environments\/[^/]+\/strategies\/[^/]+)$/;

function endRollouts(now: FlagState, target: FlagState): readonly FlagEvent[] {
  return rolloutsIn(now).flatMap(({ environment, strategy, rollout }): FlagEvent[] => {
    if (rolloutOf(environmentOf(target, environment), strategy)) return [];
    const data = { strategy, rollout: null, reason: 'changed' } as const;
    return [{ type: 'rollout-ended', environment, data, before: { strategy, rollout } }];
  });
}

function withoutRollouts(flag: FlagState): FlagState {
  if (flag.environments.every(({ rollouts }) => rollouts === undefined)) return flag;
  return { ...flag, environments: flag.environments.map(({ rollouts: _rollouts, ...environment }) => environment) };
}

/** Returns a flag with the rollouts of another one, but for some. */
function withRolloutsOf(flag: FlagState, other: FlagState, without: readonly StartedRollout[]): FlagState {
  if (other === withoutRollouts(other)) return flag;
  const isKept = (name: string, id: string) =>
    !without.some(({ environment, strategy }) => environment === name && strategy === id);
  const environments = flag.environments.map((environment) => {
    const { name } = environment;
    const kept = Object.entries(environmentOf(other, name).rollouts ?? {}).filter(([id]) => isKept(name, id));
    return kept.length > 0 ? { ...environment, rollouts: Object.fromEntries(kept) } : environment;
  });
  return { ...flag, environments };
}

/**
 * Merges a flag: restores the parts that the set has changed, and keeps all others. Keeps the present rollouts, but for
 * those that the set has started. After a later step, such a start is a conflict.
 */
function mergeFlag({ before, after, now }: Versions<FlagState>): MergedVersions<FlagState> {
  const started = startedRollouts(before, after, now);
  const [was, became, is] = [before, after, now].map((flag) => flag && withoutRollouts(flag));
  const { target, conflicts } = mergeParts({ before: was, after: became, now: is });
  const stepped = started.filter(({ hasStepped }) => hasStepped);
  return {
    target: target && now ? withRolloutsOf(target, now, started) : target,
    conflicts: [...conflicts, ...stepped.map(pointerTo)],
    ...(stepped.length > 0 && { advice: 'stop the rollout instead, with stopRollout({ rollback: true })' }),
  };
}

function mergeParts({ before, after, now }: Versions<FlagState>): MergedVersions<FlagState> {
  const names = [before, now, after].flatMap((flag) => flag?.environments.map(({ name }) => name) ?? []);
  const toParts = (flag: FlagState | undefined) => flag && withArchiving(withEnvironments(flag, names));
  const versions = { before: toParts(before), after: toParts(after), now: toParts(now) };
  const { target, conflicts } = mergeVersions(versions, (path) => WHOLE.test(path));
  if (!target || target === versions.before) return { target: target && before, conflicts };
  return { target: target === versions.now ? now : toFlag(target), conflicts };
}

/** Adds environments that were never configured, as off and empty: each setting in them is then a part of its own. */
function withEnvironments(flag: FlagState, environments: readonly string[]): FlagState {
  const names = new Set([...flag.environments.map(({ name }) => name), ...environments]);
  return { ...flag, environments: [...names].map((name) => environmentOf(flag, name)) };
}

/** A flag whose archiving is one part: its time, or false. */
interface FlagParts extends Omit<FlagState, 'archived' | 'archivedAt'> {
  readonly archived: string | false;
}

function withArchiving({ archivedAt, ...flag }: FlagState): FlagParts {
  return { ...flag, archived: archivedAt ?? false };
}

function toFlag({ archived, environments, ...flag }: FlagParts): FlagState {
  return {
    ...flag,
    archived: archived !== false,
    ...(archived !== false && { archivedAt: archived }),
    // `enabled` implies a strategy, as after the removal of the last one.
    environments: environments.map((one) => ({ ...one, enabled: one.enabled && one.strategies.length > 0 })),
  };
}
