import type { CustomStrategy } from '../api/custom-strategy.js';
import type { FlagDefinition, StrategyDefinition, VariantDefinition } from '../api/definitions.js';
import type { EvaluationProblemCode } from '../api/evaluation-problem.js';
import type { Parameters } from '../api/strategies.js';
import { LIMITS } from '../validation/limits.js';
import type { CompiledSegment } from './compile-segment.js';
import type { CompiledFlag, CompiledStrategy, SegmentUse } from './compiled-flag.js';
import { type ConstraintScope, compileConstraint } from './constraints/compile-constraint.js';
import { strategyCost } from './constraints/cost.js';
import type { Now } from './constraints/date.js';
import { allOf, never, type Predicate } from './context.js';
import { type ProblemReporter, reasonOf } from './problem.js';
import { listOf, text, textOrNone } from './shape.js';
import { BUILT_IN_STRATEGIES } from './strategies/built-in.js';
import type { StrategyTest, Surroundings } from './strategies/strategy-test.js';
import type { FlagCounter } from './usage.js';
import { compileVariants, type VariantChoice } from './variants.js';

export type Segments = ReadonlyMap<number, CompiledSegment>;

/** What the flags of one environment have in common. */
export interface CompilationParts {
  readonly now: Now;
  readonly surroundings: Surroundings;
  readonly strategies: ReadonlyMap<string, CustomStrategy>;
  readonly problems: ProblemReporter;
}

export interface FlagAtHand {
  readonly name: string;
  readonly segments: Segments;
  readonly counter: FlagCounter;
  /** What it was before, whose parts can be used again. */
  readonly before: CompiledFlag | undefined;
}

/** The compilation of one flag: what its strategies and variants have in common. */
export class FlagCompilation {
  constructor(
    private readonly parts: CompilationParts,
    private readonly flag: FlagAtHand,
  ) {}

  /** One without segments depends on its definition alone. */
  strategy(definition: StrategyDefinition): CompiledStrategy {
    const same = this.flag.before?.strategies.find((strategy) => strategy.definition === definition);
    return same?.segments.length === 0 && !same.isTooCostly ? same : this.newStrategy(definition);
  }

  private newStrategy(definition: StrategyDefinition): CompiledStrategy {
    const scope: ConstraintScope = { now: this.parts.now, problem: (code, message) => this.report(code, message) };
    const constraints = listOf(definition.constraints, 'constraints').map((one) => compileConstraint(one, scope));
    const segments = listOf(definition.segments, 'segments').map((id) => this.segmentUse(id));
    const parameters = definition.parameters ?? {};
    const test = this.test(text(definition.name, 'name of a strategy'), parameters);
    const conditions = constraints.map(({ holds }) => holds);
    for (const { segment } of segments) conditions.push(segment?.holds ?? never);
    return {
      definition,
      holds: definition.disabled ? never : allOf([...conditions, test.holds]),
      constraints,
      segments,
      test,
      variants: this.strategyVariants(definition, parameters),
      cost: definition.disabled ? 0 : strategyCost(definition, (id) => this.flag.segments.get(id)?.cost ?? 0),
    };
  }

  /** The strategies in order; those beyond the limit of cost do not hold, and are reported. */
  affordable(strategies: readonly CompiledStrategy[]): readonly CompiledStrategy[] {
    let cost = 0;
    return strategies.map((strategy) => {
      cost += strategy.cost;
      return cost <= LIMITS.flagCost ? strategy : this.tooCostly(strategy);
    });
  }

  private tooCostly(strategy: CompiledStrategy): CompiledStrategy {
    const message = `Strategies of ${this.flag.name} do not hold: the regular expressions and lists of its strategies could take too long together. Use fewer or simpler ones.`;
    this.report('too_costly', message);
    return { ...strategy, holds: never, cost: 0, isTooCostly: true };
  }

  /** A flag's variants are drawn by its name, with the stickiness of the first of them. */
  flagVariants({ variants }: FlagDefinition): VariantChoice | undefined {
    const { before } = this.flag;
    if (before?.broken === undefined && before?.definition.variants === variants) return before?.variants;
    const definitions = listOf(variants, 'variants');
    const stickiness = textOrNone(definitions[0]?.stickiness, 'stickiness') ?? 'default';
    return this.variants(definitions, { groupId: this.flag.name, stickiness });
  }

  /** A strategy's variants are drawn by its group, which is `undefined` by name when there is none, as in the SDKs. */
  private strategyVariants({ variants }: StrategyDefinition, parameters: Parameters): VariantChoice | undefined {
    const definitions = listOf(variants, 'variants of a strategy');
    const own = definitions[0]?.stickiness || parameters.stickiness;
    const stickiness = textOrNone(own, 'stickiness') ?? 'default';
    return this.variants(definitions, { groupId: String(parameters.groupId), stickiness });
  }

  private variants(
    definitions: readonly VariantDefinition[],
    draw: { groupId: string; stickiness: string },
  ): VariantChoice | undefined {
    return compileVariants(definitions, {
      ...draw,
      counter: this.flag.counter,
      surroundings: this.parts.surroundings,
    });
  }

  private segmentUse(id: number): SegmentUse {
    const segment = this.flag.segments.get(id);
    if (segment === undefined) this.report('missing_segment', `${this.flag.name} names a missing segment: ${id}.`);
    return { id, segment };
  }

  private test(name: string, parameters: Parameters): StrategyTest {
    const custom = this.parts.strategies.get(name);
    if (custom) return { holds: this.guarded(custom, Object.freeze({ ...parameters })) };
    const builtIn = BUILT_IN_STRATEGIES.get(name);
    if (builtIn) return builtIn(parameters, this.parts.surroundings);
    this.report('unknown_strategy', `${this.flag.name} has a strategy that is not known and never holds: ${name}.`);
    return { holds: never };
  }

  private guarded(strategy: CustomStrategy, parameters: Parameters): Predicate {
    return (context) => {
      try {
        return strategy.isEnabled(parameters, context) === true;
      } catch (error) {
        const { name: flag } = this.flag;
        const message = `The strategy ${strategy.name} of ${flag} threw: ${reasonOf(error)}.`;
        this.parts.problems.report({ code: 'strategy_failed', flag, message }, strategy.name);
        return false;
      }
    };
  }

  private report(code: EvaluationProblemCode, message: string): void {
    this.parts.problems.report({ code, flag: this.flag.name, message });
  }
}
