import type { StrategyRef } from '../../base/common.types.js';
import { isSameJson, pickPresent } from '../../base/json.js';
import { toTimestamp } from '../../base/primitives.js';
import type { DependencyInput } from '../flags/dependency.types.js';
import {
  type EnvironmentState,
  environmentOf,
  FLAG_MEMBER_NAMES,
  type FlagState,
  newFlagState,
  rolloutOf,
  rolloutsIn,
} from '../flags/flag.js';
import { keepPercentage } from '../flags/rollouts.decide.js';
import { toStrategy } from '../flags/strategies.decide.js';
import type { Strategy } from '../flags/strategy.types.js';
import { toVariants } from '../flags/variants.decide.js';
import { DEFAULT_PROJECT, type ProjectState } from '../projects/project.js';
import type { SegmentState } from '../segments/segment.js';
import type {
  DefinedEnvironment,
  DefinedFlag,
  DefinedProject,
  DefinedSegment,
  DefinedStrategy,
} from './definition.types.js';

/** Values of new documents. */
export interface TargetContext {
  readonly now: string;
  readonly actor: string;
  /** Returns the id of a new strategy. Repeated calls for one place return the same id. */
  readonly newId: (place: string) => string;
}

/** Returns the state that a definition asks for. Absent members keep the current values. */
export function projectTarget(
  { id, name, description, createdAt, members }: DefinedProject,
  current: ProjectState | undefined,
  { now }: Pick<TargetContext, 'now'>,
): ProjectState {
  const given = members?.map(({ userId, roleId }) => ({ userId, roleId }));
  return {
    id,
    name: name ?? current?.name ?? id,
    description: description ?? current?.description ?? '',
    createdAt: current?.createdAt ?? timeOf(createdAt, now),
    members: given?.sort((one, other) => one.userId - other.userId) ?? current?.members ?? [],
  };
}

/** @param id of a new segment */
export function segmentTarget(
  definition: DefinedSegment,
  current: SegmentState | undefined,
  { id, now, actor }: Pick<TargetContext, 'now' | 'actor'> & { readonly id: number },
): SegmentState {
  const { name, description, constraints, createdAt, createdBy } = definition;
  const project = definition.project === undefined ? current?.project : (definition.project ?? undefined);
  return {
    id: current?.id ?? id,
    name,
    description: description ?? current?.description ?? '',
    constraints: constraints ?? current?.constraints ?? [],
    ...(project !== undefined && { project }),
    createdAt: current?.createdAt ?? timeOf(createdAt, now),
    createdBy: current?.createdBy ?? createdBy ?? actor,
  };
}

export interface FlagTargetContext extends TargetContext {
  readonly defaultType: string;
  /** Returns the id of a segment in the store. */
  readonly segmentId: (reference: string | number) => number;
}

export function flagTarget(
  definition: DefinedFlag,
  current: FlagState | undefined,
  origin: FlagTargetContext,
): FlagState {
  const { name, createdAt, archived = current?.archived ?? false, variants, dependencies } = definition;
  const base =
    current ??
    newFlagState({
      name,
      project: DEFAULT_PROJECT,
      type: origin.defaultType,
      createdAt: timeOf(createdAt, origin.now),
    });
  const { archivedAt: _archivedAt, ...kept } = base;
  return {
    ...kept,
    ...pickPresent(definition, MEMBERS),
    ...(variants && { variants: toVariants(variants) }),
    ...(dependencies && { dependencies: dependencies.map(toDependency) }),
    ...archiveOf(definition, base, { archived, now: origin.now }),
    environments: environmentsOf(definition, archived ? base : switchOffEverywhere(base), origin),
  };
}

/** The members that a definition and a flag have in common. */
const MEMBERS = [...FLAG_MEMBER_NAMES, 'project'] as const;

function archiveOf(
  { archivedAt }: DefinedFlag,
  current: FlagState,
  { archived, now }: { readonly archived: boolean; readonly now: string },
): Pick<FlagState, 'archived' | 'archivedAt'> {
  if (!archived) return { archived };
  // Keeps the time: a different time alone does not cause a change.
  return { archived, archivedAt: current.archivedAt ?? timeOf(archivedAt, now) };
}

/** A revived flag is off everywhere, unless the definition says otherwise. */
function switchOffEverywhere(flag: FlagState): FlagState {
  if (!flag.archived) return flag;
  return { ...flag, environments: flag.environments.map((environment) => ({ ...environment, enabled: false })) };
}

function toDependency({ flag, enabled = true, variants = [] }: DependencyInput) {
  return { flag, enabled, variants };
}

/** New environments follow the present ones, in the order of the definition. */
function environmentsOf(
  { name, environments = {} }: DefinedFlag,
  current: FlagState,
  origin: FlagTargetContext,
): readonly EnvironmentState[] {
  const given = new Map(Object.entries(environments));
  const kept = current.environments.map((environment) => {
    const definition = given.get(environment.name);
    given.delete(environment.name);
    return definition ? environmentTarget(definition, environment, { ...origin, place: name }) : environment;
  });
  const added = [...given].map(([environment, definition]) =>
    environmentTarget(definition, environmentOf(current, environment), { ...origin, place: name }),
  );
  return [...kept, ...added];
}

interface Place extends FlagTargetContext {
  readonly place: string;
}

function environmentTarget(
  { enabled, strategies }: DefinedEnvironment,
  current: EnvironmentState,
  origin: Place,
): EnvironmentState {
  const { name } = current;
  const place = `${origin.place}/${name}`;
  const next = strategies ? strategiesOf(strategies, current, { ...origin, place }) : current.strategies;
  const isEnabled = enabled ?? current.enabled;
  // `enabled` implies a strategy, as after the removal of the last one.
  return { ...current, enabled: isEnabled && next.length > 0, strategies: next };
}

/**
 * A strategy without an id gets the id of an equal current strategy, or else of one with its name, or a new id. A strategy
 * that rolls out keeps its percentage, and is equal whatever that is: others go first, because its percentage may be the one
 * of another definition.
 */
function strategiesOf(
  definitions: readonly DefinedStrategy[],
  environment: EnvironmentState,
  origin: Place,
): readonly Strategy[] {
  const { strategies: current } = environment;
  const rollsOut = ({ id }: Strategy) => rolloutOf(environment, id) !== undefined;
  const named = new Set(definitions.map(({ id }) => id));
  const free = new Map(current.filter(({ id }) => !named.has(id)).map((strategy) => [strategy.id, strategy]));
  const take = (isMatch: (strategy: Strategy) => boolean) => {
    const found = [...free.values()].find(isMatch);
    if (found) free.delete(found.id);
    return found?.id;
  };
  const isEqual = (wanted: Strategy, other: Strategy) =>
    isSameJson(
      rollsOut(other) ? keepPercentage({ ...wanted, id: other.id }, other) : { ...wanted, id: other.id },
      other,
    );
  const matches: readonly ((wanted: Strategy, other: Strategy, index: number) => boolean)[] = [
    (wanted, other, index) => other === current[index] && !rollsOut(other) && isEqual(wanted, other),
    (wanted, other) => !rollsOut(other) && isEqual(wanted, other),
    isEqual,
    (wanted, other) => other.name === wanted.name,
  ];
  let wanted = definitions.map((definition) => ({ strategy: fromDefinition(definition, origin), id: definition.id }));
  for (const isMatch of matches) {
    wanted = wanted.map(({ strategy, id }, index) => {
      return { strategy, id: id ?? take((other) => isMatch(strategy, other, index)) };
    });
  }
  return wanted.map(({ strategy, id }, index) => {
    const identified = { ...strategy, id: id ?? origin.newId(`${origin.place}/${index}`) };
    const known = current.find((one) => one.id === id);
    return known && rollsOut(known) ? keepPercentage(identified, known) : identified;
  });
}

function fromDefinition({ id: _id, segments, ...rest }: DefinedStrategy, { segmentId }: FlagTargetContext): Strategy {
  const ids = segments && [...new Set(segments.map(segmentId))];
  return toStrategy('', { ...rest, ...(ids && { segments: ids }) });
}

function timeOf(given: string | undefined, now: string): string {
  return given === undefined ? now : toTimestamp(given);
}

/** Returns the strategies that roll out, and whose percentage an import of the definition leaves alone. */
export function rolloutsLeftAlone(
  { environments = {} }: Pick<DefinedFlag, 'environments'>,
  current: FlagState,
  target: FlagState,
): readonly StrategyRef[] {
  return rolloutsIn(current).flatMap(({ environment, strategy }) => {
    const isGiven = Object.hasOwn(environments, environment) && environments[environment]?.strategies !== undefined;
    const isKept = environmentOf(target, environment).strategies.some(({ id }) => id === strategy);
    return isGiven && isKept ? [{ project: current.project, flag: current.name, environment, strategy }] : [];
  });
}
