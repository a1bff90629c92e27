import { isSameJson } from '../../base/json.js';
import { memberOf } from '../../base/parts.js';
import type { Constraint } from '../../evaluation/definitions.types.js';
import { percentageParameter } from '../../evaluation/strategies.js';
import { type EnvironmentState, environmentOf, type FlagState, rolloutOf, sortStrategies } from './flag.js';
import type { Strategy, StrategyVariant } from './strategy.types.js';
import type { StrategyRollout } from './strategy-rollout.types.js';

/** One side of a change: the stored state before it, or after it. */
export interface StoredSide {
  /** Returns a flag that is not archived. */
  flag(name: string): FlagState | undefined;
}

/** One side of a change, for descriptions. */
export interface DescribedSide extends StoredSide {
  /** Returns a flag before the change. Present: a strategy that rolls out is described by its plan, not its percentage. */
  readonly before?: (name: string) => FlagState | undefined;
  /** Returns a value that represents a segment. Two values are equal if the constraints are. */
  segment(id: number): unknown;
  /** Returns a value that represents a parent. Two values are equal if clients see the same of the parents. */
  parent(name: string): unknown;
}

/** What clients of an environment see of a flag, as JSON. */
export interface FlagDescription {
  readonly state: FlagVisibility;
  /** `off`: whether variants have payloads, which clients show. `on`: the definition. */
  readonly seen?: unknown;
}

/**
 * Returns what clients of an environment see of a flag. The result depends on stored state only, not on options or
 * snapshots of this node.
 *
 * @param flag undefined if clients have no such flag
 */
export function describeFlag(flag: FlagState | undefined, environment: string, side: DescribedSide): FlagDescription {
  if (!flag) return { state: 'absent' };
  const { enabled } = environmentOf(flag, environment);
  if (enabled && !parentThatIsOff(flag, environment, side)) {
    const parents = flag.dependencies.map((dependency) => ({ ...dependency, parent: side.parent(dependency.flag) }));
    return { state: 'on', seen: { ...describeDefinition(flag, environment, side), parents } };
  }
  return { state: 'off', seen: [flag, ...strategiesInUse(flag, environment)].some(hasPayloads) };
}

/** Returns what clients see of a parent, which has no parents: null if it is off. */
export function describeParent(name: string, environment: string, side: Omit<DescribedSide, 'parent'>): unknown {
  const parent = side.flag(name);
  return parent && environmentOf(parent, environment).enabled ? describeDefinition(parent, environment, side) : null;
}

function describeDefinition(
  flag: FlagState,
  environment: string,
  { segment, before }: Pick<DescribedSide, 'segment' | 'before'>,
) {
  const strategies = strategiesInUse(flag, environment);
  const planOf = (strategy: Strategy) =>
    before && describePlan(strategy, environmentOf(flag, environment), before(flag.name));
  return {
    strategies: strategies.map((one) => ({
      ...describeStrategy(one, planOf(one)),
      segments: (one.segments ?? []).map(segment),
    })),
    variants: flag.variants.map(describeVariant),
  };
}

/** Returns the strategies that clients receive. */
function strategiesInUse(flag: FlagState, environment: string): readonly Strategy[] {
  return sortStrategies(environmentOf(flag, environment).strategies).filter(({ disabled }) => !disabled);
}

/** Returns the effect of a change on a flag; undefined if clients see the same. */
export function effectBetween(before: FlagDescription, after: FlagDescription): EffectState | undefined {
  if (isSameJson(before, after)) return undefined;
  const states = { before: before.state, after: after.state };
  return states.before === 'on' && states.after === 'on' ? { ...states, changed: true } : states;
}

/**
 * Returns the name of the first parent that switches a flag off for everybody: it is absent, or must be on and
 * is off.
 */
export function parentThatIsOff(flag: FlagState, environment: string, { flag: find }: StoredSide): string | undefined {
  return flag.dependencies.find((dependency) => {
    const parent = find(dependency.flag);
    return !parent || (dependency.enabled && !environmentOf(parent, environment).enabled);
  })?.flag;
}

function hasPayloads({ variants = [] }: Pick<Strategy, 'variants'>): boolean {
  return variants.some(({ payload }) => payload !== undefined);
}

function describeStrategy({ name, parameters, constraints, variants = [] }: Strategy, plan?: Plan) {
  const described = describeParameters(parameters ?? {});
  return {
    name,
    parameters: plan ? described.filter(([parameter]) => parameter !== percentageParameter(name)) : described,
    ...(plan && { plan }),
    constraints: describeConstraints(constraints),
    variants: variants.map(describeVariant),
  };
}

/** The approved part of a rollout. It covers every percentage of its steps. */
type Plan = Pick<StrategyRollout, 'steps' | 'guarded' | 'startedFrom'>;

/**
 * Returns the plan of a strategy that rolls out. If a change only ends the rollout, with the current percentage or that
 * from before the start, the plan stays the same.
 */
function describePlan(
  strategy: Strategy,
  environment: EnvironmentState,
  before: FlagState | undefined,
): Plan | undefined {
  const rollout = rolloutOf(environment, strategy.id);
  if (rollout) return toPlan(rollout);
  const earlier = before && environmentOf(before, environment.name);
  const ended = earlier && rolloutOf(earlier, strategy.id);
  const was = earlier?.strategies.find(({ id }) => id === strategy.id);
  const parameter = percentageParameter(strategy.name);
  if (!ended || was?.name !== strategy.name || parameter === undefined) return undefined;
  const [now, then] = [strategy, was].map(({ parameters }) => textOf(memberOf(parameters, parameter)));
  return now === then || now === textOf(ended.startedFrom?.value) ? toPlan(ended) : undefined;
}

function toPlan({ steps, guarded, startedFrom }: StrategyRollout): Plan {
  return { steps, guarded, startedFrom };
}

/** As clients see it. */
function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

/** Returns the parameters as text, like clients receive them. Sorted entries: `__proto__` is a possible name. */
function describeParameters(parameters: NonNullable<Strategy['parameters']>) {
  return Object.entries(parameters)
    .map(([name, value]) => [name, value === null ? null : String(value)])
    .sort();
}

interface Constrained {
  readonly constraints: readonly Constraint[];
}

/** Returns what clients see of a segment; null if there is none. */
export function describeSegment(segment: Constrained | null | undefined): unknown {
  return segment ? describeConstraints(segment.constraints) : null;
}

/** Absent members have a default, and clients see no difference. */
export function describeConstraints(constraints: readonly Constraint[]): readonly Constraint[] {
  return constraints.map(({ values = [], inverted = false, caseInsensitive = false, ...constraint }) => {
    return { ...constraint, values, inverted, caseInsensitive };
  });
}

/** Clients see the weight, and not how it came about. */
function describeVariant({ weightType: _weightType, ...variant }: StrategyVariant) {
  return variant;
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
