import type { Parameters } from '../flags/strategy.types.js';
import { LIMITS } from '../validation/limits.js';
import {
  type CompiledFlag,
  type CompiledSegment,
  type CompiledStrategy,
  compileSegment,
  type FlagSource,
  type SegmentUse,
} from './compiled-flag.js';
import { type ConstraintScope, compileConstraint, type Now } from './constraints.js';
import { allOf, always, never, type Predicate } from './context.js';
import { HASH_COST, strategyCost } from './cost.js';
import type {
  DependencyDefinition,
  FlagDefinition,
  SegmentDefinition,
  StrategyDefinition,
  VariantDefinition,
} from './definitions.types.js';
import type { CustomStrategy, EvaluationProblemCode } from './evaluated.types.js';
import { listOf, type ProblemReporter, reasonOf, text, textOrNone } from './problem.js';
import { BUILT_IN_STRATEGIES, type StrategyContext, type StrategyTest } from './strategies.js';
import type { FlagCounter, UsageCounters } from './usage.js';
import { compileVariants, OFF, ON_WITHOUT_VARIANT, type VariantChoice } from './variants.js';

export type Segments = ReadonlyMap<number, CompiledSegment>;

/** What the flags of one environment have in common. */
export interface CompilationParts {
  readonly now: Now;
  readonly surroundings: StrategyContext;
  readonly strategies: ReadonlyMap<string, CustomStrategy>;
  readonly problems: ProblemReporter;
}

export interface CompileContext {
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
    private readonly flag: CompileContext,
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

/** The parts of a compiled flag that come from its definition. */
type FlagBody = Pick<
  CompiledFlag,
  'broken' | 'dependencies' | 'strategies' | 'candidates' | 'variants' | 'segments' | 'cost'
>;

const UNCONDITIONAL: CompiledStrategy = {
  definition: { name: 'default' },
  holds: always,
  constraints: [],
  segments: [],
  test: { holds: always },
  variants: undefined,
  cost: 0,
};

/** What is there before a flag is compiled. */
export interface FlagSurroundings {
  readonly segments: Segments;
  readonly flags: FlagSource;
}

/** Turns definitions into what evaluation runs. It never throws: what cannot be read is off, and reported. */
export class FlagCompiler {
  constructor(
    private readonly parts: CompilationParts,
    private readonly counters: UsageCounters,
  ) {}

  /**
   * Undefined when the definition has no name to call it by. What a definition has in common with the one before is not
   * compiled again.
   */
  flag(definition: FlagDefinition, { segments, flags }: FlagSurroundings): CompiledFlag | undefined {
    const name = readKey(() => definition.name, 'string');
    if (name === undefined) {
      this.parts.problems.report({ code: 'broken_flag', message: 'A flag without a name is left out.' });
      return undefined;
    }
    const counter = this.counters.of(name);
    const withoutVariant = counter.variant('disabled');
    const known = flags.get(name);
    // The compiled parts of a flag that was forgotten count for nobody.
    const before = known?.counter === counter ? known : undefined;
    return {
      name,
      definition,
      counter,
      impressionData: readKey(() => definition.impressionData, 'boolean') ?? false,
      off: { answer: OFF, counter: withoutVariant },
      onWithoutVariant: { answer: ON_WITHOUT_VARIANT, counter: withoutVariant },
      ...this.body(definition, { name, segments, counter, before }),
    };
  }

  /** Undefined when the definition has no id to call it by. */
  segment(definition: SegmentDefinition): CompiledSegment | undefined {
    const id = readKey(() => definition.id, 'number');
    if (id !== undefined) return compileSegment(definition, this.parts.now, this.parts.problems);
    this.parts.problems.report({ code: 'broken_segment', message: 'A segment without a numeric id is left out.' });
    return undefined;
  }

  private body(definition: FlagDefinition, flag: CompileContext): FlagBody {
    try {
      return this.readBody(definition, flag);
    } catch (error) {
      const broken = reasonOf(error);
      const message = `The flag ${flag.name} is off: ${broken}.`;
      this.parts.problems.report({ code: 'broken_flag', flag: flag.name, message });
      return {
        broken,
        dependencies: [],
        strategies: [],
        candidates: [],
        variants: undefined,
        segments: new Set(),
        cost: 0,
      };
    }
  }

  private readBody(definition: FlagDefinition, flag: CompileContext): FlagBody {
    if (typeof definition.enabled !== 'boolean') throw new TypeError('enabled must be true or false');
    if (!Array.isArray(definition.strategies)) throw new TypeError('strategies must be an array');
    const compilation = new FlagCompilation(this.parts, flag);
    const strategies = compilation.affordable(definition.strategies.map((strategy) => compilation.strategy(strategy)));
    const candidates = strategies.length > 0 ? strategies : [UNCONDITIONAL];
    return {
      broken: undefined,
      dependencies: listOf(definition.dependencies, 'dependencies').map(readDependency),
      strategies,
      candidates: definition.enabled ? candidates : [],
      variants: compilation.flagVariants(definition),
      segments: new Set(strategies.flatMap((strategy) => strategy.segments.map(({ id }) => id))),
      cost: definition.enabled ? strategies.reduce((sum, { cost }) => sum + cost, HASH_COST) : 0,
    };
  }
}

function readDependency({ feature, enabled, variants }: DependencyDefinition): DependencyDefinition {
  return {
    feature: text(feature, 'feature of a dependency'),
    enabled: enabled !== false,
    variants: [...listOf(variants, 'variants of a dependency')],
  };
}

/** A key of that type; undefined when it is of another, or reading it throws. */
function readKey<Key>(read: () => Key, type: 'string' | 'number' | 'boolean'): NonNullable<Key> | undefined {
  try {
    const key = read();
    return typeof key === type ? (key as NonNullable<Key>) : undefined;
  } catch {
    return undefined;
  }
}
