import { FlagsError } from '../errors.js';
import type { Dependency } from './dependency.types.js';
import { type EnvironmentState, enabledEnvironments, type FlagEvent, type FlagState } from './flag.js';
import type { NewFlag } from './flag.types.js';
import type { Parameters, Strategy } from './strategy.types.js';

/** What a new flag gets from outside the decision. */
export interface FlagOrigin {
  readonly project: string;
  readonly createdAt: string;
}

/** A new flag takes a name that nobody has, archived flags and those of other projects included. */
export function createFlag(
  existing: FlagState | undefined,
  input: NewFlag & { readonly type: string },
  origin: FlagOrigin,
): FlagEvent[] {
  assertNameFree(existing, input.name);
  const { name, description = '', type, impressionData = false } = input;
  const data: FlagState = {
    name,
    project: origin.project,
    description,
    type,
    stale: false,
    impressionData,
    archived: false,
    createdAt: origin.createdAt,
    variants: [],
    environments: [],
  };
  return [{ type: 'flag-created', data, before: null }];
}

/** What a copy gets from outside the decision. */
export interface CloneOrigin {
  readonly name: string;
  readonly createdAt: string;
  /** The id for the copy of each strategy; the same for the same strategy whenever it is asked. */
  readonly idFor: (strategy: string) => string;
  /** Those of the source that the copy can have. */
  readonly dependencies: readonly Dependency[];
}

/** A copy has everything of its source but its history: off everywhere, not stale, with strategy ids of its own. */
export function cloneFlag(existing: FlagState | undefined, source: FlagState, origin: CloneOrigin): FlagEvent[] {
  assertNotArchived(source);
  assertNameFree(existing, origin.name);
  const { dependencies: _dependencies, ...rest } = source;
  const data: FlagState = {
    ...rest,
    name: origin.name,
    stale: false,
    createdAt: origin.createdAt,
    environments: source.environments.map((environment) => cloneEnvironment(environment, source.name, origin)),
    ...(origin.dependencies.length > 0 && { dependencies: origin.dependencies }),
  };
  return [{ type: 'flag-created', data, before: null }];
}

function cloneEnvironment(environment: EnvironmentState, source: string, origin: CloneOrigin): EnvironmentState {
  const strategies = environment.strategies.map((strategy) => cloneStrategy(strategy, source, origin));
  return { ...environment, enabled: false, strategies };
}

function cloneStrategy(strategy: Strategy, source: string, origin: CloneOrigin): Strategy {
  const parameters = renameGroup(strategy.parameters, source, origin.name);
  return { ...strategy, id: origin.idFor(strategy.id), parameters };
}

/** Users stay in the same share of a rollout only within one group: a copy's group is its own. */
function renameGroup(parameters: Parameters | null, from: string, to: string): Parameters | null {
  if (parameters === null || !Object.hasOwn(parameters, 'groupId') || parameters.groupId !== from) return parameters;
  return { ...parameters, groupId: to };
}

/**
 * Strategies and switches stay as they are, so that the archive shows what the flag was.
 *
 * @param children the names of the flags, not archived, that depend on it
 */
export function archiveFlag(flag: FlagState, children: readonly string[], archivedAt: string): FlagEvent[] {
  if (flag.archived) return [];
  if (children.length > 0) {
    const message = `${children.join(', ')} depend on the flag ${flag.name}; end their dependencies, or archive them first.`;
    throw new FlagsError('flag_has_children', message);
  }
  const enabledIn = enabledEnvironments(flag);
  const data = { archived: true, enabledIn, archivedAt };
  return [{ type: 'flag-archived', data, before: { archived: false, enabledIn } }];
}

/** A revived flag is off everywhere: nobody gets back what was switched on long ago. */
export function reviveFlag(flag: FlagState): FlagEvent[] {
  if (!flag.archived) return [];
  const before = { archived: true, enabledIn: enabledEnvironments(flag) };
  return [{ type: 'flag-revived', data: { archived: false, enabledIn: [] }, before }];
}

/** Only what is archived can be deleted for good. */
export function deleteFlag(flag: FlagState): FlagEvent[] {
  if (!flag.archived) {
    throw new FlagsError('flag_not_archived', `Archive the flag ${flag.name} before deleting it for good.`);
  }
  return [{ type: 'flag-deleted', data: null, before: flag }];
}

/** Every change of an archived flag is refused. */
export function assertNotArchived(flag: FlagState): void {
  if (!flag.archived) return;
  throw new FlagsError('flag_archived', `The flag ${flag.name} is archived; revive it before changing or copying it.`);
}

function assertNameFree(existing: FlagState | undefined, name: string): void {
  if (!existing) return;
  // Neither the project nor the archive is named: the caller may not see them.
  throw new FlagsError('flag_exists', `The flag name ${name} is taken; choose another.`);
}
