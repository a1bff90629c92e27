import type { Constraint } from '../evaluation/definitions.types.js';
import type { Dependency } from './dependency.types.js';
import { environmentOf, type FlagState, inOrder } from './flag.js';
import type { Strategy, StrategyVariant } from './strategy.types.js';
import type { Variant } from './variant.types.js';

/** The visibility of a flag for clients of one environment. */
export type Visibility =
  | { readonly state: 'absent' }
  /** `hasPayloads`: the variants have payloads. OFREP then sends no value. */
  | { readonly state: 'off'; readonly hasPayloads: boolean }
  /** The digest of the definition that clients receive. */
  | { readonly state: 'on'; readonly definition: string };

/** One side of a change: the stored state before it, or after it. */
export interface StoredSide {
  /** Returns a flag that is not archived. */
  flag(name: string): FlagState | undefined;
  /** Returns the digest of a segment's constraints; null if there is no such segment. */
  segment(id: number): string | null;
  /** Returns a text that is equal for equal JSON texts only. */
  digest(text: string): string;
}

const ABSENT: Visibility = { state: 'absent' };

/**
 * Returns a function that decides the visibility of a flag in an environment. It uses stored state only, and no options
 * or snapshots of this node. It caches the result per flag, because many flags may share a parent.
 */
export function createVisibility(environment: string, side: StoredSide): (flag: string) => Visibility {
  const known = new Map<string, Visibility>();
  return function visibilityOf(name) {
    const visibility = known.get(name) ?? decideVisibility(side.flag(name), { environment, side, visibilityOf });
    known.set(name, visibility);
    return visibility;
  };
}

interface VisibilityScope {
  readonly environment: string;
  readonly side: StoredSide;
  readonly visibilityOf: (flag: string) => Visibility;
}

function decideVisibility(
  flag: FlagState | undefined,
  { environment, side, visibilityOf }: VisibilityScope,
): Visibility {
  if (!flag) return ABSENT;
  const { enabled, strategies } = environmentOf(flag, environment);
  // Clients do not receive disabled strategies.
  const inUse = inOrder(strategies).filter(({ disabled }) => !disabled);
  if (!enabled || parentThatIsOff(flag, environment, side)) {
    return { state: 'off', hasPayloads: [flag, ...inUse].some(hasPayloads) };
  }
  const definition = {
    strategies: inUse.map((strategy) => shownStrategy(strategy, side)),
    // An enabled flag without strategies is on for everybody. With only disabled strategies it is off for everybody.
    isForEverybody: strategies.length === 0,
    variants: flag.variants.map(shownVariant),
    parents: flag.dependencies.map((dependency) => {
      const parent = visibilityOf(dependency.flag);
      return { ...shownDependency(dependency), definition: parent.state === 'on' ? parent.definition : null };
    }),
  };
  return { state: 'on', definition: side.digest(JSON.stringify(definition)) };
}

/**
 * Returns the name of the first parent that switches a flag off for everybody: it is absent, has parents itself, or
 * must be on and is off.
 */
export function parentThatIsOff(
  flag: FlagState,
  environment: string,
  { flag: find }: Pick<StoredSide, 'flag'>,
): string | undefined {
  return flag.dependencies.find((dependency) => {
    const parent = find(dependency.flag);
    if (!parent || parent.dependencies.length > 0) return true;
    return dependency.enabled !== false && !environmentOf(parent, environment).enabled;
  })?.flag;
}

/** Compares both sides. Returns undefined if clients see the same. */
export function compareVisibility(before: Visibility, after: Visibility): EffectState | undefined {
  const states = { before: before.state, after: after.state };
  if (before.state !== after.state) return states;
  if (before.state === 'on' && after.state === 'on') {
    return before.definition === after.definition ? undefined : { ...states, changed: true };
  }
  if (before.state === 'off' && after.state === 'off' && before.hasPayloads !== after.hasPayloads) return states;
  return undefined;
}

function hasPayloads({ variants = [] }: { readonly variants?: readonly { readonly payload?: unknown }[] }): boolean {
  return variants.some(({ payload }) => payload !== undefined && payload !== null);
}

function shownStrategy(
  { name, parameters, constraints, segments = [], variants = [] }: Strategy,
  { segment }: StoredSide,
) {
  return {
    name,
    parameters: shownParameters(parameters ?? {}),
    constraints: shownConstraints(constraints),
    segments: segments.map(segment),
    variants: variants.map(shownVariant),
  };
}

/** Returns the parameters as text, like clients receive them. Sorted entries: `__proto__` is a possible name. */
function shownParameters(parameters: NonNullable<Strategy['parameters']>) {
  const entries = Object.entries(parameters).sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.map(([name, value]) => [name, value === null ? null : String(value)]);
}

/** Returns constraints as clients receive them. */
export function shownConstraints(constraints: readonly Constraint[] = []) {
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

function shownDependency({ flag, enabled, variants }: Dependency) {
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
