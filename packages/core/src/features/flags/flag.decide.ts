import { type ErrorDetail, FlagsError } from '../../base/errors.js';
import { pickChanged, pickPresent } from '../../base/json.js';
import { isDotSegment } from '../../base/primitives.js';
import { invalidInput, type Validator } from '../../base/validator.js';
import type { StrategyParameters } from '../../evaluation/definitions.types.js';
import type { Dependency } from './dependency.types.js';
import {
  assertNotArchived,
  type EnvironmentState,
  enabledEnvironments,
  type FlagHead,
  type FlagState,
  METADATA,
  membersOf,
  newFlagState,
} from './flag.js';
import type { FlagEvent } from './flag.kind.js';
import type { FlagChanges, FlagMembers, LabelChanges, NewFlag } from './flag.types.js';
import type { Strategy } from './strategy.types.js';

/*
 * Decides what happens to a whole flag: creation, copies, metadata, archive, deletion and moves.
 */

/** Values of a new flag that the caller provides. */
export interface FlagOrigin {
  readonly project: string;
  readonly createdAt: string;
}

/** Creates a flag. Its name must be unused, also by archived flags and in other projects. */
export function createFlag(
  existing: FlagState | undefined,
  input: NewFlag & { readonly type: string },
  origin: FlagOrigin,
): FlagEvent[] {
  assertNameFree(existing, input.name);
  assertNewLabels(input.labels);
  const data = newFlagState({ ...pickPresent(input, METADATA), name: input.name, ...origin });
  return [{ type: 'flag-created', data, before: null }];
}

/** Values of a copy that the caller provides. */
export interface CloneOrigin {
  readonly name: string;
  readonly createdAt: string;
  /** Returns the id of a strategy's copy: always the same for the same strategy. */
  readonly idFor: (strategy: string) => string;
  /** The source's dependencies that the copy may have. */
  readonly dependencies: readonly Dependency[];
}

/** Copies a flag: off everywhere, not stale, and with new strategy ids. */
export function cloneFlag(existing: FlagState | undefined, source: FlagState, origin: CloneOrigin): FlagEvent[] {
  assertNotArchived(source);
  assertNameFree(existing, origin.name);
  const data: FlagState = {
    ...source,
    name: origin.name,
    stale: false,
    createdAt: origin.createdAt,
    environments: source.environments.map((environment) => cloneEnvironment(environment, source.name, origin)),
    dependencies: origin.dependencies,
  };
  return [{ type: 'flag-created', data, before: null }];
}

/** Without rollouts: the copies have the percentages of the moment. */
function cloneEnvironment(
  { name, strategies }: EnvironmentState,
  source: string,
  origin: CloneOrigin,
): EnvironmentState {
  return { name, enabled: false, strategies: strategies.map((strategy) => cloneStrategy(strategy, source, origin)) };
}

function cloneStrategy(strategy: Strategy, source: string, origin: CloneOrigin): Strategy {
  const parameters = renameGroup(strategy.parameters, source, origin.name);
  return { ...strategy, id: origin.idFor(strategy.id), parameters };
}

/** Gives the copy its own rollout group, which determines the users in the rollout. */
function renameGroup(parameters: StrategyParameters | null, from: string, to: string): StrategyParameters | null {
  if (parameters === null || !Object.hasOwn(parameters, 'groupId') || parameters.groupId !== from) return parameters;
  return { ...parameters, groupId: to };
}

/**
 * Archives a flag. Keeps strategies and enabled states, which the archive shows.
 *
 * @param children the names of the flags that depend on it, without archived flags
 */
export function archiveFlag(flag: FlagState, children: readonly string[], archivedAt: string): FlagEvent[] {
  if (flag.archived) return [];
  assertNoChildren(flag.name, children);
  const enabledIn = enabledEnvironments(flag);
  const data = { archived: true, enabledIn, archivedAt };
  return [{ type: 'flag-archived', data, before: { archived: false, enabledIn } }];
}

export function assertNoChildren(flag: string, children: readonly string[]): void {
  if (children.length === 0) return;
  const message = `${children.join(', ')} depend on the flag ${flag}; remove their dependencies, or archive them first.`;
  throw new FlagsError('flag_has_children', message);
}

/**
 * Revives a flag, off everywhere.
 *
 * @param kept its dependencies that are still possible. The others are removed: their parents are archived or gone.
 */
export function reviveFlag(flag: FlagState, kept: readonly Dependency[] = flag.dependencies): FlagEvent[] {
  if (!flag.archived) return [];
  const before = { archived: true, enabledIn: enabledEnvironments(flag) };
  const left = flag.dependencies.filter((dependency) => !kept.includes(dependency));
  return [
    { type: 'flag-revived', data: { archived: false, enabledIn: [] }, before },
    ...left.map((dependency): FlagEvent => ({ type: 'dependency-removed', data: null, before: dependency })),
  ];
}

/** Deletes a flag permanently. It must be archived. */
export function deleteFlag(flag: FlagState): FlagEvent[] {
  if (!flag.archived) {
    throw new FlagsError('flag_not_archived', `Archive the flag ${flag.name} before deleting it.`);
  }
  return [{ type: 'flag-deleted', data: null, before: flag }];
}

/**
 * Moves a flag to another project. Dependencies stay within a project, so a flag with parents or children cannot move.
 *
 * @param children the names of the flags that depend on it, including archived flags
 */
export function moveFlag(flag: FlagState, project: string, children: readonly string[]): FlagEvent[] {
  assertNotArchived(flag);
  if (project === flag.project) return [];
  const parents = flag.dependencies.map((dependency) => dependency.flag);
  if (parents.length > 0) {
    const message = `The flag ${flag.name} depends on ${parents.join(', ')} in the project ${flag.project}; remove these dependencies before you move it.`;
    throw new FlagsError('parent_not_found', message);
  }
  if (children.length > 0) {
    const message = `${children.join(', ')} depend on the flag ${flag.name}; remove their dependencies before you move it.`;
    throw new FlagsError('flag_has_children', message);
  }
  return [{ type: 'flag-moved', data: { project }, before: { project: flag.project } }];
}

function assertNameFree(existing: FlagState | undefined, name: string): void {
  if (!existing) return;
  // The message does not name the project or the archive, which the caller may not see.
  throw new FlagsError('flag_exists', `The flag name ${name} is taken; choose another.`);
}

/**
 * Records one event for the metadata and one for staleness, if they change. The metadata event contains the flag
 * without its environments, as in Unleash.
 */
export function changeMetadata(flag: FlagState, changes: FlagChanges): FlagEvent[] {
  assertNotArchived(flag);
  assertNewLabels(changes.labels, flag.labels);
  return replaceMetadata(flag, changes);
}

/** Throws `invalid_input` for new labels that cannot be in a path. A flag that has one may keep it. */
function assertNewLabels(labels?: readonly string[], before?: readonly string[]): void {
  const issues = newLabelIssues(labels, before);
  if (issues.length > 0) throw invalidInput(issues);
}

export function newLabelIssues(
  labels: readonly string[] = [],
  before: readonly string[] = [],
): readonly Required<ErrorDetail>[] {
  return labels.flatMap((label, index) =>
    isDotSegment(label) && !before.includes(label)
      ? [{ message: 'must not be . or .., because no path could name it', path: `/labels/${index}` }]
      : [],
  );
}

/** As {@link changeMetadata}, but accepts archived flags, and labels that the flag has had before. */
export function replaceMetadata(flag: FlagState, { stale = flag.stale, ...changes }: FlagChanges): FlagEvent[] {
  const before = toUpdate(flag);
  const changed = pickChanged<FlagMembers>(before, changes, METADATA);
  const events: FlagEvent[] = changed ? [{ type: 'flag-updated', data: { ...before, ...changed.data }, before }] : [];
  if (stale === flag.stale) return events;
  return [...events, { type: stale ? 'flag-stale-on' : 'flag-stale-off', data: { stale }, before: { stale: !stale } }];
}

/**
 * Adds and removes labels. Keeps the order; an added label comes last. Ignores labels to add that exist, and labels to
 * remove that do not.
 */
export function changeLabels(
  flag: FlagState,
  { add, remove }: Required<LabelChanges>,
  validate: Validator<FlagChanges>,
): FlagEvent[] {
  const labels = new Set(flag.labels);
  for (const label of remove) labels.delete(label);
  for (const label of add) labels.add(label);
  return changeMetadata(flag, validate({ labels: [...labels] }));
}

export function toUpdate(flag: FlagState): FlagHead {
  const { name, project, archived, createdAt, variants } = flag;
  const { labels, owner, ...members } = membersOf(flag);
  return { name, project, ...members, archived, createdAt, variants, labels, owner };
}
