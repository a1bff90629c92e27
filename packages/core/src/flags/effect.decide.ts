import { isSameJson } from '../base/json.js';
import type { Constraint } from '../evaluation/definitions.types.js';
import type { Dependency } from './dependency.types.js';
import { environmentOf, type FlagState, inOrder } from './flag.js';
import type { Strategy, StrategyVariant } from './strategy.types.js';
import type { Variant } from './variant.types.js';

/** One side of a change: the stored state before it, or after it. */
export interface StoredSide {
  /** Returns a flag that is not archived. */
  flag(name: string): FlagState | undefined;
}

/** A flag on both sides of a change; undefined where clients have no such flag. */
interface BothSides {
  readonly before: FlagState | undefined;
  readonly after: FlagState | undefined;
}

/**
 * Creates a function that returns the effect of a change on a flag in an environment; undefined if clients see the
 * same. It compares what clients receive, from stored state only: no options or snapshots of this node. It remembers
 * the results, because many flags may share a parent or a segment.
 */
export function createComparison(
  environment: string,
  sides: { readonly before: StoredSide; readonly after: StoredSide },
  isSameSegment: (before: number, after: number) => boolean,
): (flags: BothSides) => EffectState | undefined {
  const parents = new Map<string, boolean>();
  const { seenState, showsPayloads, inUse, isForEverybody } = createView(environment);

  function compare({ before, after }: BothSides): EffectState | undefined {
    const states = { before: seenState(before, sides.before), after: seenState(after, sides.after) };
    if (states.before !== states.after) return states;
    if (!before || !after || states.before === 'absent') return undefined;
    if (states.before === 'off') return showsPayloads(before) === showsPayloads(after) ? undefined : states;
    return isSameDefinition(before, after) ? undefined : { ...states, changed: true };
  }

  function isSameDefinition(before: FlagState, after: FlagState): boolean {
    return (
      isForEverybody(before) === isForEverybody(after) &&
      isSameList(inUse(before), inUse(after), isSameStrategy) &&
      isSameJson(before.variants.map(shownVariant), after.variants.map(shownVariant)) &&
      isSameList(before.dependencies, after.dependencies, isSameDependency)
    );
  }

  function isSameStrategy(before: Strategy, after: Strategy): boolean {
    return (
      (before === after || isSameJson(shownStrategy(before), shownStrategy(after))) &&
      isSameList(before.segments ?? [], after.segments ?? [], isSameSegment)
    );
  }

  function isSameDependency(before: Dependency, after: Dependency): boolean {
    if (!isSameJson(shownDependency(before), shownDependency(after))) return false;
    const known = parents.get(after.flag) ?? isSameParent(after.flag);
    parents.set(after.flag, known);
    return known;
  }

  /** Children see whether a parent is on, and its definition. */
  function isSameParent(name: string): boolean {
    const [before, after] = [sides.before.flag(name), sides.after.flag(name)];
    const [isOn, isStillOn] = [seenState(before, sides.before) === 'on', seenState(after, sides.after) === 'on'];
    if (!isOn || !isStillOn || !before || !after) return isOn === isStillOn;
    return isSameDefinition(before, after);
  }

  return compare;
}

/** Returns what clients of an environment see of single flags. */
function createView(environment: string) {
  /** Clients do not receive disabled strategies. */
  const inUse = (flag: FlagState): readonly Strategy[] =>
    inOrder(environmentOf(flag, environment).strategies).filter(({ disabled }) => !disabled);
  return {
    inUse,
    seenState(flag: FlagState | undefined, side: StoredSide): FlagVisibility {
      if (!flag) return 'absent';
      return environmentOf(flag, environment).enabled && !parentThatIsOff(flag, environment, side) ? 'on' : 'off';
    },
    showsPayloads: (flag: FlagState): boolean => [flag, ...inUse(flag)].some(hasPayloads),
    /** An enabled flag without strategies is on for everybody. With only disabled strategies it is off for everybody. */
    isForEverybody: (flag: FlagState): boolean => environmentOf(flag, environment).strategies.length === 0,
  };
}

/**
 * Creates a function that returns what clients of an environment receive of a flag, as JSON. It differs if and only if
 * {@link createComparison} finds an effect.
 *
 * @param segment returns what stands for a segment: equal if its constraints are equal
 */
export function createDescription(
  environment: string,
  side: StoredSide,
  segment: (id: number) => string,
): (flag: FlagState | undefined) => unknown {
  const { seenState, showsPayloads, inUse, isForEverybody } = createView(environment);

  function describe(flag: FlagState | undefined): unknown {
    const state = seenState(flag, side);
    if (!flag || state === 'absent') return { state };
    return state === 'off' ? { state, payloads: showsPayloads(flag) } : { state, definition: define(flag) };
  }

  function define(flag: FlagState) {
    return {
      everybody: isForEverybody(flag),
      strategies: inUse(flag).map((one) => ({ ...shownStrategy(one), segments: (one.segments ?? []).map(segment) })),
      variants: flag.variants.map(shownVariant),
      parents: flag.dependencies.map((one) => ({ ...shownDependency(one), definition: defineParent(one.flag) })),
    };
  }

  function defineParent(name: string): unknown {
    const parent = side.flag(name);
    return parent && seenState(parent, side) === 'on' ? define(parent) : null;
  }

  return describe;
}

function isSameList<T>(before: readonly T[], after: readonly T[], isSame: (one: T, other: T) => boolean): boolean {
  return before.length === after.length && before.every((one, at) => isSame(one, after[at] as T));
}

/**
 * Returns the name of the first parent that switches a flag off for everybody: it is absent, has parents itself, or
 * must be on and is off.
 */
export function parentThatIsOff(flag: FlagState, environment: string, { flag: find }: StoredSide): string | undefined {
  return flag.dependencies.find((dependency) => {
    const parent = find(dependency.flag);
    if (!parent || parent.dependencies.length > 0) return true;
    return dependency.enabled !== false && !environmentOf(parent, environment).enabled;
  })?.flag;
}

function hasPayloads({ variants = [] }: { readonly variants?: readonly { readonly payload?: unknown }[] }): boolean {
  return variants.some(({ payload }) => payload !== undefined && payload !== null);
}

function shownStrategy({ name, parameters, constraints, variants = [] }: Strategy) {
  return {
    name,
    parameters: shownParameters(parameters ?? {}),
    constraints: shownConstraints(constraints),
    variants: variants.map(shownVariant),
  };
}

/** Returns the parameters as text, like clients receive them. Sorted entries: `__proto__` is a possible name. */
function shownParameters(parameters: NonNullable<Strategy['parameters']>) {
  const entries = Object.entries(parameters).sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.map(([name, value]) => [name, value === null ? null : String(value)]);
}

interface Constrained {
  readonly constraints: readonly Constraint[];
}

/** Returns whether clients receive the same constraints of two segments. */
export function isSameForClients(before: Constrained | undefined, after: Constrained | undefined): boolean {
  if (!before || !after) return before === after;
  return before.constraints === after.constraints || isSameJson(shownSegment(before), shownSegment(after));
}

/** Returns what clients receive of a segment; null if there is none. */
export function shownSegment(segment: Constrained | undefined) {
  return segment ? shownConstraints(segment.constraints) : null;
}

/** Returns constraints as clients receive them. */
function shownConstraints(constraints: readonly Constraint[] = []) {
  return constraints.map(
    ({ contextName, operator, values = [], value = null, inverted = false, caseInsensitive = false }) => {
      return { contextName, operator, values, value, inverted, caseInsensitive };
    },
  );
}

function shownVariant({
  name,
  weight,
  stickiness = 'default',
  payload,
  overrides = [],
}: StrategyVariant & Partial<Variant>) {
  return {
    name,
    weight,
    stickiness,
    payload: payload ? { type: payload.type, value: payload.value } : null,
    overrides: overrides.map(({ contextName, values }) => ({ contextName, values })),
  };
}

function shownDependency({ flag, enabled = true, variants = [] }: Dependency) {
  return { flag, enabled, variants };
}

/**
 * `absent`: the project has no such flag. `off`: off for everybody, by its switch or a parent. `on`: strategies and
 * parents decide.
 */
export type FlagVisibility = 'absent' | 'off' | 'on';

/** The visibility of a flag before and after. With `off` on both sides, its variants gain or lose their payloads. */
export interface EffectState {
  readonly before: FlagVisibility;
  readonly after: FlagVisibility;
  /** true if the flag is on before and after, but its definition for clients differs. */
  readonly changed?: true;
}

/** The change that clients of one environment would see of one flag. A flag that moves has one effect per project. */
export interface FlagEffect extends EffectState {
  readonly project: string;
  readonly flag: string;
  readonly environment: string;
}
