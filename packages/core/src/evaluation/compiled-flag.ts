import { LIMITS } from '../validation/limits.js';
import { type CompiledConstraint, compileConstraint, type Now } from './constraints.js';
import { allOf, never, type Predicate } from './context.js';
import { constraintsCost } from './cost.js';
import type {
  DependencyDefinition,
  FlagDefinition,
  SegmentDefinition,
  StrategyDefinition,
} from './definitions.types.js';
import type { EvaluationContext } from './evaluated.types.js';
import { notices, type ProblemReporter, reasonOf, toList, toText } from './problem.js';
import type { StrategyTest } from './strategies.js';
import type { FlagCounter } from './usage.js';
import { type CompiledVariant, type CompiledVariants, chooseVariant } from './variants.js';

export interface CompiledFlag {
  readonly name: string;
  readonly definition: FlagDefinition;
  readonly counter: FlagCounter;
  readonly impressionData: boolean;
  /** Why the definition could not be read; undefined for a readable one. */
  readonly broken: string | undefined;
  readonly dependencies: readonly DependencyDefinition[];
  /** Empty while the flag is off, except in a draft. */
  readonly strategies: readonly CompiledStrategy[];
  /**
   * The strategies to evaluate, in order. Empty while the flag is off; one strategy that always holds if the flag is on
   * without strategies.
   */
  readonly candidates: readonly CompiledStrategy[];
  /** Undefined while the flag is off, except in a draft. */
  readonly variants: CompiledVariants | undefined;
  readonly off: CompiledVariant;
  readonly onWithoutVariant: CompiledVariant;
  readonly segments: ReadonlySet<number>;
  /** The cost of the evaluated strategies and of the variant. See {@link constraintCost}. */
  readonly cost: number;
}

export interface CompiledStrategy {
  readonly definition: StrategyDefinition;
  /** Holds if all constraints, all segments and the strategy's own test hold. */
  readonly holds: Predicate;
  readonly constraints: readonly CompiledConstraint[];
  readonly segments: readonly SegmentUse[];
  readonly test: StrategyTest;
  readonly variants: CompiledVariants | undefined;
  readonly cost: number;
  /** Set if this strategy and those before it exceed the cost limit. It is not evaluated and does not hold. */
  readonly isTooCostly?: true;
}

export interface SegmentUse {
  readonly id: number;
  /** Undefined if the segment does not exist. */
  readonly segment: CompiledSegment | undefined;
}

/** Finds the parents of a flag. */
export interface FlagSource {
  get(name: string): CompiledFlag | undefined;
}

/** One empty list, because an instance may have tens of thousands of flags. */
export const NONE: readonly never[] = Object.freeze([]);

export function readDependencies({ dependencies }: FlagDefinition): readonly DependencyDefinition[] {
  const list = toList(dependencies, 'dependencies');
  return list.length === 0 ? NONE : list.map(readDependency);
}

function readDependency({ feature, enabled, variants }: DependencyDefinition): DependencyDefinition {
  return {
    feature: toText(feature, 'feature of a dependency'),
    enabled: enabled !== false,
    variants: [...toList(variants, 'variants of a dependency')],
  };
}

/** Returns the strategy that switches the flag on, or undefined if the flag is off. Allocates nothing. */
export function winningStrategy(
  flag: CompiledFlag,
  context: EvaluationContext,
  flags: FlagSource,
): CompiledStrategy | undefined {
  if (flag.dependencies.length > 0 && !dependenciesHold(flag, context, flags)) return undefined;
  for (const strategy of flag.candidates) if (strategy.holds(context)) return strategy;
  return undefined;
}

/** Returns the variant for the winning strategy. The strategy's variants come before the flag's. */
export function variantOf(
  flag: CompiledFlag,
  winner: CompiledStrategy | undefined,
  context: EvaluationContext,
): CompiledVariant {
  if (winner === undefined) return flag.off;
  const ofStrategy = winner.variants && chooseVariant(winner.variants, context);
  if (ofStrategy) return ofStrategy;
  return (flag.variants && chooseVariant(flag.variants, context)) ?? flag.onWithoutVariant;
}

function dependenciesHold(flag: CompiledFlag, context: EvaluationContext, flags: FlagSource): boolean {
  if (flag.dependencies.length > 1 && parentsAreTooCostly(flag, flags)) return false;
  for (const dependency of flag.dependencies) if (!dependencyHolds(dependency, context, flags)) return false;
  return true;
}

/**
 * Whether all parents together exceed the cost limit. Decided per evaluation, because parents change independently of
 * their children.
 */
export function parentsAreTooCostly(flag: CompiledFlag, flags: FlagSource): boolean {
  let cost = 0;
  for (const { feature } of flag.dependencies) cost += flags.get(feature)?.cost ?? 0;
  if (cost <= LIMITS.parentsCost) return false;
  const message = `The flag ${flag.name} is off: evaluating its parents could take too long. Give it fewer parents, or give them fewer or simpler regular expressions and lists.`;
  notices.add({ code: 'too_costly', flag: flag.name, message });
  return true;
}

/**
 * A parent that has parents itself never satisfies a dependency. This limits the depth to one level, and ends cycles.
 */
export function dependencyHolds(
  dependency: DependencyDefinition,
  context: EvaluationContext,
  flags: FlagSource,
): boolean {
  const parent = flags.get(dependency.feature);
  if (parent === undefined || parent.dependencies.length > 0) return false;
  const winner = winningStrategy(parent, context, flags);
  if (dependency.enabled === false) return winner === undefined;
  if (winner === undefined) return false;
  if (!dependency.variants?.length) return true;
  return dependency.variants.includes(variantOf(parent, winner, context).answer.name);
}

export interface CompiledSegment {
  readonly id: number;
  readonly constraints: readonly CompiledConstraint[];
  readonly holds: Predicate;
  /** The cost of all constraints. The constraints of a too costly segment are not evaluated. */
  readonly cost: number;
}

/** Compiles a segment. An unreadable segment never holds. */
export function compileSegment(definition: SegmentDefinition, now: Now, problems: ProblemReporter): CompiledSegment {
  const { id: segment } = definition;
  try {
    const definitions = toList(definition.constraints, 'constraints of a segment');
    const cost = constraintsCost(definitions);
    if (cost > LIMITS.flagCost) return rejectTooCostly(segment, problems);
    const constraints = definitions.map((constraint) =>
      compileConstraint(constraint, { now, problem: (code, message) => problems.report({ code, segment, message }) }),
    );
    return { id: segment, constraints, holds: allOf(constraints.map(({ holds }) => holds)), cost };
  } catch (error) {
    const message = `The segment ${segment} cannot be read and never holds: ${reasonOf(error)}.`;
    problems.report({ code: 'broken_segment', segment, message });
    return { id: segment, constraints: [], holds: never, cost: 0 };
  }
}

function rejectTooCostly(segment: number, problems: ProblemReporter): CompiledSegment {
  const message = `The segment ${segment} never holds: its regular expressions and lists could take too long together. Use fewer or simpler ones.`;
  problems.report({ code: 'too_costly', segment, message });
  return { id: segment, constraints: [], holds: never, cost: 0 };
}
