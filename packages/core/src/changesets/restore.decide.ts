import { isSameJson } from '../base/json.js';
import { type Edit, editItems, editList, mergeStates } from '../base/parts.js';
import type { Dependency } from '../flags/dependency.types.js';
import { enabledEnvironments, environmentOf, evolveFlag, type FlagEvent, type FlagState } from '../flags/flag.js';
import { reviveFlag } from '../flags/lifecycle.decide.js';
import { replaceMetadata } from '../flags/metadata.decide.js';
import { replaceEnvironment } from '../flags/strategies.decide.js';
import { type ProjectEvent, type ProjectState, updateProject } from '../projects/project.js';
import type { Member } from '../projects/project.types.js';
import type { SegmentEvent, SegmentState } from '../segments/segment.js';

/**
 * Returns the events that bring a flag to another state, including ids, creation time and switches. An undefined state
 * means that there is no flag. The caller checks the references.
 */
export function restoreFlag(now: FlagState | undefined, target: FlagState | undefined): FlagEvent[] {
  if (!now || !target || now.createdAt !== target.createdAt) {
    const created: FlagEvent[] = target ? [{ type: 'flag-created', data: target, before: null }] : [];
    return now ? [{ type: 'flag-deleted', data: null, before: now }, ...created] : created;
  }
  // Reviving switches the flag off everywhere.
  const revival = target.archived ? [] : reviveFlag(now);
  const flag = revival.reduce<FlagState | undefined>(evolveFlag, now) ?? now;
  const environments = new Set([...target.environments, ...flag.environments].map(({ name }) => name));
  return [
    ...revival,
    ...replaceMetadata(flag, target),
    ...restoreVariants(flag, target),
    ...editList(flag.dependencies, target.dependencies).map(toDependencyEvent),
    ...[...environments].flatMap((name) => replaceEnvironment(environmentOf(flag, name), environmentOf(target, name))),
    // The references are those of the project that the flag moves to.
    ...restoreProjectOf(flag, target),
    ...restoreArchive(flag, target),
  ];
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

/** Returns the events that bring a project to another state. */
export function restoreProject(now: ProjectState | undefined, target: ProjectState | undefined): ProjectEvent[] {
  if (!now || !target || now.createdAt !== target.createdAt) {
    const created: ProjectEvent[] = target ? [{ type: 'project-created', data: target, before: null }] : [];
    return now ? [{ type: 'project-deleted', data: null, before: now }, ...created] : created;
  }
  return [...updateProject(now, target), ...editItems(now.members, target.members).map(toMemberEvent)];
}

function toMemberEvent({ before, after }: Edit<Member>): ProjectEvent {
  if (!after) return { type: 'member-removed', data: null, before };
  if (!before) return { type: 'member-added', data: after, before: null };
  return { type: 'member-role-changed', data: after, before };
}

/** Returns the events that bring a segment to another state. */
export function restoreSegment(now: SegmentState | undefined, target: SegmentState | undefined): SegmentEvent[] {
  if (isSameJson(now, target)) return [];
  if (!target) return now ? [{ type: 'segment-deleted', data: null, before: now }] : [];
  return now
    ? [{ type: 'segment-updated', data: target, before: now }]
    : [{ type: 'segment-created', data: target, before: null }];
}

/** The states of a document around a change set, and the current one. Undefined: no document. */
export interface Versions<State> {
  readonly before: State | undefined;
  readonly after: State | undefined;
  readonly now: State | undefined;
}

/** The state without a change set, with all later changes of other parts. */
export interface MergedVersions<State> {
  readonly target: State | undefined;
  /** JSON Pointers to the parts that the set changed, and that have changed again since. Empty text: the document. */
  readonly conflicts: readonly string[];
}

/** The parts that an undo restores as a whole. */
const WHOLE = /^\/(variants|dependencies|constraints|members\/[^/]+|environments\/[^/]+\/strategies\/[^/]+)$/;

/** Merges a flag: restores the parts that the set has changed, and keeps all others. */
export function mergeFlag({ before, after, now }: Versions<FlagState>): MergedVersions<FlagState> {
  const names = [before, now, after].flatMap((flag) => flag?.environments.map(({ name }) => name) ?? []);
  const toParts = (flag: FlagState | undefined) => flag && withArchiving(withEnvironments(flag, names));
  const versions = { before: toParts(before), after: toParts(after), now: toParts(now) };
  const { target, conflicts } = mergeVersions(versions);
  if (!target || target === versions.before) return { target: target && before, conflicts };
  return { target: target === versions.now ? now : toFlag(target), conflicts };
}

/** An environment that was never configured equals one that is off and empty: what is set in it are parts of their own. */
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

/** Merges documents as {@link mergeFlag} does. A document that was deleted and created again is merged as a whole. */
export function mergeVersions<State extends Pick<ProjectState | SegmentState | FlagState, 'createdAt'>>({
  before,
  after,
  now,
}: Versions<State>): MergedVersions<State> {
  const isOne = new Set([before, after, now].map((version) => version?.createdAt)).size === 1;
  const { result, conflicts, agreed, reordered } = mergeStates(
    { base: after, theirs: now, mine: before },
    { isWhole: (path) => !isOne || WHOLE.test(path) },
  );
  // A later change to the earlier value is a conflict too.
  return { target: result, conflicts: [...conflicts.map(({ path }) => path), ...agreed, ...reordered] };
}
