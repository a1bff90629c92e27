import {
  type CompiledFlag,
  type CompiledStrategy,
  dependencyHolds,
  type FlagSource,
  parentsAreTooCostly,
  type SegmentUse,
} from './compiled-flag.js';
import type { CompiledConstraint } from './constraints.js';
import type {
  ConstraintExplanation,
  EvaluationContext,
  ExplanationReason,
  FlagExplanation,
  SegmentExplanation,
  StrategyExplanation,
  VariantExplanation,
} from './evaluation.types.js';
import type { StrategyTest } from './rollout.js';
import { explainVariant, OFF, ON_WITHOUT_VARIANT } from './variants.js';

type Decisions = Pick<FlagExplanation, 'dependencies' | 'strategies'>;

export function explainUnknown(flag: string): FlagExplanation {
  return off(flag, 'unknown_flag');
}

/** Evaluates the same compiled predicates as `winningStrategy`, one by one. */
export function explainFlag(flag: CompiledFlag, context: EvaluationContext, flags: FlagSource): FlagExplanation {
  if (flag.broken !== undefined) return off(flag.name, 'broken_flag');
  try {
    return explainReadable(flag, context, flags);
  } catch {
    return off(flag.name, 'unreadable_context');
  }
}

function explainReadable(flag: CompiledFlag, context: EvaluationContext, flags: FlagSource): FlagExplanation {
  if (flag.dependencies.length > 1 && parentsAreTooCostly(flag, flags)) return off(flag.name, 'dependency');
  const dependencies = explainUntil(false, flag.dependencies, (dependency) => ({
    dependency,
    holds: dependencyHolds(dependency, context, flags),
  }));
  if (dependencies.at(-1)?.holds === false) return off(flag.name, 'dependency', { dependencies });
  if (!flag.definition.enabled) return off(flag.name, 'disabled', { dependencies });
  if (flag.strategies.length === 0) {
    return on(flag.name, { reason: 'no_strategies', dependencies, strategies: [] }, explainChoice(flag, context));
  }
  const strategies = explainUntil(true, flag.strategies, (strategy) => explainStrategy(strategy, context));
  if (strategies.at(-1)?.holds !== true) return off(flag.name, 'no_strategy_holds', { dependencies, strategies });
  const choice = explainChoice(flag, context, flag.strategies[strategies.length - 1]);
  return on(flag.name, { reason: 'strategy', dependencies, strategies }, choice);
}

function off(flag: string, reason: ExplanationReason, decisions: Partial<Decisions> = {}): FlagExplanation {
  return { flag, enabled: false, reason, variant: OFF, dependencies: [], strategies: [], ...decisions };
}

function on(
  flag: string,
  decisions: Decisions & Pick<FlagExplanation, 'reason'>,
  choice: VariantExplanation | undefined,
): FlagExplanation {
  const variant = choice?.variant ?? ON_WITHOUT_VARIANT;
  return { flag, enabled: true, variant, ...decisions, ...(choice && { variantChoice: choice }) };
}

/**
 * Reads an additional detail of an explanation. Returns undefined if the context cannot be read: an evaluation may
 * decide without that detail.
 */
export function tryRead<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The strategy's variants come before the flag's. */
function explainChoice(
  flag: CompiledFlag,
  context: EvaluationContext,
  winner?: CompiledStrategy,
): VariantExplanation | undefined {
  return tryRead(() => {
    const ofStrategy = winner?.variants && explainVariant(winner.variants, context);
    if (ofStrategy?.variant) return ofStrategy;
    return flag.variants && explainVariant(flag.variants, context);
  });
}

function explainStrategy(strategy: CompiledStrategy, context: EvaluationContext): StrategyExplanation {
  const { name } = strategy.definition;
  const { unknown } = strategy;
  const unasked = {
    name,
    holds: false,
    disabled: false,
    ...(unknown.length > 0 && { unknown }),
    constraints: [],
    segments: [],
  };
  if (strategy.definition.disabled) return { ...unasked, disabled: true };
  if (strategy.isTooCostly) return { ...unasked, isTooCostly: true };
  const constraints = explainUntil(false, strategy.constraints, (constraint) => explainConstraint(constraint, context));
  if (constraints.at(-1)?.holds === false) return { ...unasked, constraints };
  const segments = explainUntil(false, strategy.segments, (use) => explainSegment(use, context));
  if (segments.at(-1)?.holds === false) return { ...unasked, constraints, segments };
  const test = explainTest(strategy.test, context);
  return { ...unasked, constraints, segments, holds: test.test, ...test };
}

function explainTest(
  test: StrategyTest,
  context: EvaluationContext,
): { test: boolean } & Pick<StrategyExplanation, 'rollout'> {
  const rollout = tryRead(() => test.explain?.(context));
  return rollout ? { test: rollout.holds, rollout } : { test: test.holds(context) };
}

function explainSegment({ id, segment }: SegmentUse, context: EvaluationContext): SegmentExplanation {
  if (segment === undefined) return { id, found: false, holds: false, constraints: [] };
  const constraints = explainUntil(false, segment.constraints, (constraint) => explainConstraint(constraint, context));
  return { id, found: true, holds: segment.holds(context), constraints };
}

function explainConstraint(constraint: CompiledConstraint, context: EvaluationContext): ConstraintExplanation {
  const { definition, field } = constraint;
  const value = tryRead(() => field.read(context));
  return { constraint: definition, ...(value !== undefined && { value }), holds: constraint.holds(context) };
}

/** Explains items up to the first that holds, or that does not hold. */
function explainUntil<Item, Result extends { readonly holds: boolean }>(
  holds: boolean,
  items: readonly Item[],
  explain: (item: Item) => Result,
): Result[] {
  const results: Result[] = [];
  for (const item of items) {
    const result = explain(item);
    results.push(result);
    if (result.holds === holds) break;
  }
  return results;
}
