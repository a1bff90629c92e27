import { FlagsError } from '../../base/errors.js';
import { isSameJson } from '../../base/json.js';
import { LIMITS } from '../../base/limits.js';
import type { Dependency } from './dependency.types.js';
import { assertNotArchived, type FlagState } from './flag.js';
import type { FlagEvent } from './flag.kind.js';

/** The parent and children of a flag that gets a dependency. */
export interface DependencyContext {
  /** Undefined if no flag has the parent's name. */
  readonly parent: FlagState | undefined;
  /** The names of the flags that depend on the child, including archived ones, which may be revived. */
  readonly children: readonly string[];
}

/** Adds a dependency, or replaces the one on the same parent. */
export function addDependency(child: FlagState, dependency: Dependency, relatives: DependencyContext): FlagEvent[] {
  assertNotArchived(child);
  assertCanDepend(child, dependency, relatives);
  const before = child.dependencies.find(({ flag }) => flag === dependency.flag);
  if (!before) {
    assertRoomForDependency(child);
    return [{ type: 'dependency-added', data: dependency, before: null }];
  }
  return isSameJson(dependency, before) ? [] : [{ type: 'dependency-updated', data: dependency, before }];
}

function assertRoomForDependency(child: FlagState): void {
  if (child.dependencies.length < LIMITS.dependencies) return;
  const message = `The flag ${child.name} depends on ${LIMITS.dependencies} other flags, which is the maximum; remove a dependency first.`;
  throw new FlagsError('invalid_input', message);
}

export function removeDependency(child: FlagState, parent: string): FlagEvent[] {
  assertNotArchived(child);
  const before = child.dependencies.find(({ flag }) => flag === parent);
  if (!before) {
    const message = `The flag ${child.name} does not depend on ${parent}; read the flag for its dependencies.`;
    throw new FlagsError('dependency_not_found', message);
  }
  return [{ type: 'dependency-removed', data: null, before }];
}

export function removeDependencies(child: FlagState): FlagEvent[] {
  assertNotArchived(child);
  return child.dependencies.map((before) => ({ type: 'dependency-removed', data: null, before }));
}

/** Whether a flag can be the parent of flags in this project. */
export function canBeParent(flag: FlagState | undefined, project: string): flag is FlagState {
  return flag !== undefined && flag.project === project && !flag.archived;
}

/** A parent has no parents itself, so an evaluation reads at most one level of parents. */
export function assertCanDepend(child: FlagState, { flag }: Dependency, { parent, children }: DependencyContext): void {
  if (flag === child.name) {
    throw new FlagsError('dependency_cycle', `The flag ${child.name} cannot depend on itself; name another flag.`);
  }
  if (!canBeParent(parent, child.project)) {
    const message = `There is no flag ${flag} in the project ${child.project}, or it is archived; name another.`;
    throw new FlagsError('parent_not_found', message);
  }
  if (parent.dependencies.length > 0) {
    const message = `The flag ${flag} has dependencies itself; name a flag without dependencies.`;
    throw new FlagsError('dependency_too_deep', message);
  }
  if (children.length > 0) {
    const message = `The flag ${child.name} cannot depend on another flag while ${children.join(', ')} depend on it.`;
    throw new FlagsError('dependency_too_deep', message);
  }
}
