import { LIMITS } from '../base/limits.js';
import { compileStrategy } from './compile-strategy.js';
import { type CompiledFlag, CompiledStrategy, readDependencies, type SegmentUse } from './compiled-flag.js';
import {
  type CompiledSegment,
  type ConstraintScope,
  compileConstraint,
  compileSegment,
  type Now,
} from './constraints.js';
import { ALWAYS, type Condition, NEVER } from './context.js';
import { mapList, NONE, readKey, toList, toOptionalText, toText } from './convert.js';
import type {
  FlagDefinition,
  SegmentDefinition,
  StrategyDefinition,
  StrategyParameters,
  VariantDefinition,
} from './definitions.types.js';
import type { CustomStrategy } from './evaluation.types.js';
import { patternsIn } from './pattern-bound.js';
import type { PatternSource } from './patterns.types.js';
import { type EvaluationProblemCode, type ProblemReporter, reasonOf, SILENT } from './problem.js';
import type { StrategyContext, StrategyTest } from './rollout.js';
import { noEffectInStrategy, noEffectInVariants, unknownInStrategy } from './strategies.js';
import { type FlagCounter, UsageCounters } from './usage-counters.js';
import { type CompiledVariants, compileVariants } from './variants.js';
import { HASH, strategyWeight } from './weight.js';

export type Segments = ReadonlyMap<number, CompiledSegment>;

/** Settings that all flags of one environment share. */
export interface CompilationParts {
  readonly now: Now;
  readonly strategyContext: StrategyContext;
  readonly strategies: ReadonlyMap<string, CustomStrategy>;
  readonly patterns: PatternSource;
  readonly problems: ProblemReporter;
}

export interface CompileContext {
  readonly name: string;
  readonly segments: Segments;
  readonly counter: FlagCounter;
}

/** Compiles the strategies and variants of one flag. */
class FlagCompilation {
  /** The weight of the strategies within the limit. */
  weight = 0;
  private tried = 0;
  private patterns = 0;
  /** The segments whose patterns are counted. */
  private readonly counted = new Set<number>();

  constructor(
    private readonly parts: CompilationParts,
    private readonly flag: CompileContext,
  ) {}

  /** Strategies beyond the weight limit do not hold, and are reported. */
  strategy(definition: StrategyDefinition): CompiledStrategy {
    const { now, patterns } = this.parts;
    const scope: ConstraintScope = { now, patterns, problem: (code, message) => this.report(code, message) };
    const constraints = mapList(definition.constraints, 'constraints', (one) => compileConstraint(one, scope));
    const segments = mapList(definition.segments, 'segments', (id) => this.segmentUse(id));
    const parameters = definition.parameters ?? {};
    const test = this.test(toText(definition.name, 'name of a strategy'), parameters);
    const unknown = unknownInStrategy(definition, [...this.parts.strategies.keys()]);
    for (const text of noEffectInStrategy(definition)) this.reportNoEffect(text);
    const variants = this.strategyVariants(definition, parameters);
    const isTooCostly = !this.admits(definition);
    return new CompiledStrategy(definition, constraints, segments, test, variants, unknown, isTooCostly);
  }

  /** Adds the weight and the patterns of the next strategy. Returns whether all until then are within the limits. */
  private admits(definition: StrategyDefinition): boolean {
    const { segments } = this.flag;
    this.tried += strategyWeight(definition, (id) => segments.get(id)?.weight ?? 0);
    if (!definition.disabled) this.countPatterns(definition);
    if (this.tried <= LIMITS.flagWeight && this.patterns <= LIMITS.patternsPerFlag) {
      this.weight = this.tried;
      return true;
    }
    const message = `Strategies of ${this.flag.name} do not hold: the regular expressions and lists of its strategies could take too long together. Use fewer or simpler ones.`;
    this.report('too_costly', message);
    return false;
  }

  private countPatterns({ constraints, segments }: StrategyDefinition): void {
    this.patterns += patternsIn(constraints ?? []);
    for (const id of segments ?? []) {
      if (!this.counted.has(id)) this.patterns += this.flag.segments.get(id)?.patterns ?? 0;
      this.counted.add(id);
    }
  }

  /** Flag variants are hashed with the flag's name, and use the stickiness of the first variant. */
  flagVariants({ variants }: FlagDefinition): CompiledVariants | undefined {
    const definitions = toList(variants, 'variants');
    const stickiness = toOptionalText(definitions[0]?.stickiness, 'stickiness') ?? 'default';
    for (const text of noEffectInVariants(definitions)) this.reportNoEffect(text);
    return this.variants(definitions, this.flag.name, stickiness);
  }

  /**
   * Strategy variants are hashed with the `groupId` parameter. Without one, the group is the text `undefined`, as in
   * Unleash SDKs.
   */
  private strategyVariants(
    { variants }: StrategyDefinition,
    parameters: StrategyParameters,
  ): CompiledVariants | undefined {
    const definitions = toList(variants, 'variants of a strategy');
    const own = definitions[0]?.stickiness || parameters.stickiness;
    const stickiness = toOptionalText(own, 'stickiness') ?? 'default';
    return this.variants(definitions, String(parameters.groupId), stickiness);
  }

  private variants(definitions: readonly VariantDefinition[], groupId: string, stickiness: string) {
    const { counter } = this.flag;
    const { strategyContext } = this.parts;
    return compileVariants(definitions, { groupId, stickiness, counter, strategyContext });
  }

  private segmentUse(id: number): SegmentUse {
    const segment = this.flag.segments.get(id);
    if (segment === undefined)
      this.report('missing_segment', `${this.flag.name} uses a segment that does not exist: ${id}.`);
    return segment ? { id, segment, holds: (context) => segment.holds(context) } : { id, segment, ...NEVER };
  }

  private test(name: string, parameters: StrategyParameters): StrategyTest {
    const custom = this.parts.strategies.get(name);
    if (custom) return { holds: this.catchErrors(custom, Object.freeze({ ...parameters })) };
    const builtIn = compileStrategy(name, parameters, this.parts.strategyContext);
    if (builtIn) return builtIn;
    this.report('unknown_strategy', `${this.flag.name} has an unknown strategy, which never holds: ${name}.`);
    return NEVER;
  }

  private catchErrors(strategy: CustomStrategy, parameters: StrategyParameters): Condition['holds'] {
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

  private reportNoEffect(text: string): void {
    this.report('no_effect', `${this.flag.name}: ${text}.`);
  }

  private report(code: EvaluationProblemCode, message: string): void {
    this.parts.problems.report({ code, flag: this.flag.name, message });
  }
}

/** The parts of a compiled flag that are derived from its definition. */
type FlagBody = Pick<
  CompiledFlag,
  'broken' | 'dependencies' | 'strategies' | 'candidates' | 'variants' | 'segments' | 'weight'
>;

const ALWAYS_ON = new CompiledStrategy({ name: 'default' }, NONE, NONE, ALWAYS, undefined, NONE, false);
const ONLY_ALWAYS_ON: readonly CompiledStrategy[] = [ALWAYS_ON];

/** Compiles definitions for evaluation. Never throws: an unreadable definition is off, and is reported. */
export class FlagCompiler {
  constructor(
    private readonly parts: CompilationParts,
    private readonly counters: UsageCounters,
  ) {}

  /** Returns a compiler for drafts: with other random numbers, and with unread counters and problems. */
  forDrafts(random: () => number): FlagCompiler {
    const strategyContext = { ...this.parts.strategyContext, random };
    const parts = { ...this.parts, strategyContext, problems: SILENT };
    return new FlagCompiler(parts, new UsageCounters());
  }

  /** Returns undefined if the definition has no name. */
  flag(definition: FlagDefinition, segments: Segments): CompiledFlag | undefined {
    const name = readKey(() => definition.name, 'string');
    if (name === undefined) {
      this.parts.problems.report({ code: 'broken_flag', message: 'A flag without a name is left out.' });
      return undefined;
    }
    const counter = this.counters.get(name);
    const body = this.body(definition, { name, segments, counter });
    // Named members instead of a spread: the object needs half the memory.
    return {
      condition: conditionOf(body.candidates),
      counter,
      dependencies: body.dependencies,
      name,
      definition,
      impressionData: readKey(() => definition.impressionData, 'boolean') ?? false,
      broken: body.broken,
      strategies: body.strategies,
      candidates: body.candidates,
      variants: body.variants,
      segments: body.segments,
      weight: body.weight,
    };
  }

  /** Returns undefined if the definition has no id. */
  segment(definition: SegmentDefinition): CompiledSegment | undefined {
    const id = readKey(() => definition.id, 'number');
    if (id !== undefined) return compileSegment(definition, this.parts);
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
        dependencies: NONE,
        strategies: NONE,
        candidates: NONE,
        variants: undefined,
        segments: NO_SEGMENTS,
        weight: 0,
      };
    }
  }

  private readBody(definition: FlagDefinition, flag: CompileContext): FlagBody {
    if (typeof definition.enabled !== 'boolean') throw new TypeError('enabled must be true or false');
    if (!Array.isArray(definition.strategies)) throw new TypeError('strategies must be an array');
    const { enabled } = definition;
    const compilation = new FlagCompilation(this.parts, flag);
    const strategies = definition.strategies.map((strategy) => compilation.strategy(strategy));
    // A flag that is off has no variant, and most flags are off in most environments.
    const variants = enabled ? compilation.flagVariants(definition) : undefined;
    return {
      broken: undefined,
      dependencies: readDependencies(definition),
      strategies,
      candidates: enabled ? candidatesOf(strategies) : NONE,
      variants,
      segments: segmentsOf(strategies),
      weight: enabled ? HASH + compilation.weight : 0,
    };
  }
}

const NO_SEGMENTS: ReadonlySet<number> = new Set();

function candidatesOf(strategies: readonly CompiledStrategy[]): readonly CompiledStrategy[] {
  if (strategies.length === 0) return ONLY_ALWAYS_ON;
  const isCandidate = ({ definition, isTooCostly }: CompiledStrategy) => !definition.disabled && !isTooCostly;
  return strategies.every(isCandidate) ? strategies : strategies.filter(isCandidate);
}

/** Most flags have one strategy. */
function conditionOf(candidates: readonly CompiledStrategy[]): Condition {
  const [first, second] = candidates;
  if (first === undefined) return NEVER;
  if (second === undefined) return first.condition;
  return { holds: (context) => candidates.some((strategy) => strategy.holds(context)) };
}

function segmentsOf(strategies: readonly CompiledStrategy[]): ReadonlySet<number> {
  const ids = strategies.flatMap(({ segments }) => segments.map(({ id }) => id));
  return ids.length > 0 ? new Set(ids) : NO_SEGMENTS;
}
